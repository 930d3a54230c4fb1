import { type ErrorCode, hasCode, SignageError } from '../../../domain/error.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import { readClaim } from '../../input/pairing-code.ts';
import type { CommandContext } from '../../program/context.ts';
import { modelText } from './pairing.ts';

/** The screen offered to a TV. It may still have to be created. */
interface OfferedPlace {
  venue: { name: string };
  screen: { name: string };
}

/**
 * Returns a description of the TV that shows a claim: `Samsung QM55C from 192.0.2.17`. Throws
 * `claim_offered` for a claim that was used before.
 */
export async function describeTv({ read }: CommandContext, claim: string): Promise<string> {
  const { deviceInfo, address, status } = await read('getClaim', { params: { claim } });
  if (status === 'offered')
    throw new SignageError(
      'claim_offered',
      `The TV that shows the claim ${groupedCode(claim)} was already offered a screen.`,
      { hint: 'Start pairing at the TV again: it then shows a new claim.' },
    );
  const model = modelText(deviceInfo) || 'A TV of unknown model';
  const serial = deviceInfo.serial ? `, serial number ${deviceInfo.serial},` : '';
  return `${model}${serial} from ${address ?? 'an unknown address'}`;
}

async function questionFor(
  call: CommandContext,
  claim: string,
  { venue, screen }: OfferedPlace,
): Promise<string> {
  const place = JSON.stringify(`${venue.name}/${screen.name}`);
  return `${await describeTv(call, claim)}: pair it with ${place}?`;
}

/** Asks whether the right TV shows the claim. Returns the claim. */
export async function confirmTv(
  call: CommandContext,
  typed: string,
  place: OfferedPlace,
): Promise<string> {
  const claim = readClaim(typed);
  await call.confirmDestruction(await questionFor(call, claim, place));
  return claim;
}

/** Shows a TV that waits, and asks whether it is the right one. `--yes` answers for the person. */
export async function isRightTv(
  call: CommandContext,
  claim: string,
  place: OfferedPlace,
): Promise<boolean> {
  const { prompter, common } = call;
  try {
    const message = await questionFor(call, claim, place);
    return common.yes || common.dryRun || (await prompter.confirm({ message, flag: '--yes' }));
  } catch (error) {
    if (!askAgainCodes.some((code) => hasCode(error, code))) throw error;
    call.note((error as SignageError).message);
    return false;
  }
}

/** Look-up errors that may not recur after a pause or with another claim. */
export const askAgainCodes: readonly ErrorCode[] = [
  'claim_not_found',
  'claim_offered',
  'too_many_attempts',
  'unavailable',
  'unreachable',
];

/**
 * Asks for a claim until a TV shows it and the person confirms that TV. Returns `undefined` for an
 * empty line, which `canSkip` permits.
 */
export async function askClaim(
  call: CommandContext,
  place: OfferedPlace,
  { message, flag, canSkip }: { message: string; flag: string; canSkip: boolean },
): Promise<string | undefined> {
  const { prompter } = call;
  for (;;) {
    const typed = await prompter.input({
      message,
      flag,
      canBeEmpty: canSkip,
      check: (text) => void readClaim(text),
    });
    if (typed.trim() === '') return undefined;
    const claim = readClaim(typed);
    if (await isRightTv(call, claim, place)) return claim;
  }
}
