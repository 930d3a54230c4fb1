import type { DeviceClient } from '../../../client/device-client.ts';
import type { ClaimOffer, DeviceInfoInput } from '../../../client/entities.ts';
import { SignageError } from '../../../domain/error.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import type { UnpairedReason } from '../../../player/observer.ts';
import { waitForOfferedCode } from '../../../player/pairing/claim.ts';
import { readCode, readCodeOrTicket } from '../../input/pairing-code.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { defaultSize } from '../../terminal/live-view.ts';
import { type TvLogEntry, unpairedWords } from './tv-log.ts';
import type { TvOptions } from './tv-options.ts';

/** Returns the next pairing code for the TV, or `undefined` if there is none. */
export type CodeSource = (
  why: UnpairedReason,
  error: SignageError | undefined,
) => Promise<string | undefined>;

/** A TV that needs a code. */
interface UnpairedTv {
  client: DeviceClient;
  deviceInfo: DeviceInfoInput;
}

/** Closes the display while a person is asked. */
type Suspend = <T>(ask: () => Promise<T>) => Promise<T>;

/** Number of failed attempts after which a TV that was never paired gives up. */
const maxAttempts = 3;

/**
 * Shows a claim, in large letters if they fit on the terminal, and the command that pairs the TV.
 * Shows them even with `--quiet`.
 */
async function showClaim({ io }: CommandContext, claim: string): Promise<void> {
  const { blockLetters } = await import('../../terminal/draw-code.ts');
  const letters = blockLetters(claim, (io.stderr.columns ?? defaultSize.columns) - 1);
  if (letters && io.stderr.isTTY) io.stderr.write(`\n${letters.join('\n')}\n\n`);
  io.stderr.write(
    `This TV shows the claim ${groupedCode(claim)}.\n` +
      `Pair it: signage pair VENUE/SCREEN --tv ${claim}\n`,
  );
}

/**
 * Returns a source of codes that installers offer to the claims of this TV. Gives up after
 * `maxAttempts` failures with `--once`, or if no claim was shown yet.
 */
function claimSource(
  call: CommandContext,
  { client, deviceInfo }: UnpairedTv,
  { yes, once }: TvOptions,
  suspend: Suspend,
  ticket?: string,
): CodeSource {
  const { clock, random, interrupted: signal, prompter } = call;
  const accept = async ({ tenant, tenantId, venue, screen, confirm }: ClaimOffer) => {
    const place = JSON.stringify(`${venue}/${screen}`);
    // Another tenant may have a name of letters that look the same.
    const offer = `${JSON.stringify(tenant)} (${tenantId}) offers this TV the screen ${place}.`;
    if (yes || !confirm) {
      call.note(offer);
      return true;
    }
    if (!prompter.canAsk) throw usage(`${offer} Questions cannot be asked here: give --yes.`);
    return prompter.confirm({ message: `${offer} Accept?`, flag: '--yes' });
  };
  return () => {
    let failures = 0;
    let isShown = false;
    let shown = '';
    const onClaim = (claim: string) => {
      isShown = true;
      shown = claim;
      void showClaim(call, claim);
    };
    const onIdentify = (seconds: number) => {
      if (seconds > 0) void showClaim(call, shown);
    };
    const onFailure = (error: SignageError) => {
      if (++failures >= maxAttempts && (once || !isShown)) throw error;
      call.note(`${error.message} The TV tries again.`);
    };
    const of = { client, deviceInfo, ticket, clock, random, signal };
    return suspend(() => waitForOfferedCode({ ...of, onClaim, onIdentify, onFailure, accept }));
  };
}

/**
 * Returns a source of codes: first the code of `--code`, then codes typed at the terminal. Without
 * a terminal, the code of `--code` is the only one. With `--claim` or a ticket,
 * installers or the ticket offer the codes.
 */
export async function codeSource(
  call: CommandContext,
  options: TvOptions,
  tv: UnpairedTv,
  suspend: Suspend,
): Promise<CodeSource> {
  const { io, prompter } = call;
  if (options.claim && options.code !== undefined)
    throw usage('--claim waits for an offered code, so --code does not work with it.');
  if (options.yes && !options.claim)
    throw usage('--yes accepts the screen that is offered to a claim: give --claim, too.');
  if (options.claim) return claimSource(call, tv, options, suspend);
  const read = options.code === undefined ? undefined : await readCodeOrTicket(io, options.code);
  if (read && 'ticket' in read) return claimSource(call, tv, options, suspend, read.ticket);
  let given = read?.code;
  return async (why, error) => {
    const first = given;
    given = undefined;
    if (first !== undefined || !prompter.canAsk) return first;
    const message = `${error ? error.message : unpairedWords[why]} Pairing code:`;
    return suspend(async () =>
      readCode(
        await prompter.input({
          message,
          flag: '--code',
          check: (text) => void readCode(text),
        }),
      ),
    );
  };
}

/** The error for an unpaired TV without a terminal to ask for a code. */
export function needCode(): SignageError {
  return usage(
    'This TV is not paired. Give a pairing code with --code.',
    'Create a code: signage code create, or signage pair.',
  );
}

const transientCodes = ['unreachable', 'unavailable', 'internal_error'];
const isRejection = ({ code, status }: SignageError) =>
  code.startsWith('pairing_code_') || status === 400;

/** Aborts a TV that cannot be paired. A real TV would retry forever, but here a person waits. */
export class PairingWatch {
  readonly #hardStop: AbortController;
  #isPaired: boolean;
  #attempts = 0;
  /** The error that prevented pairing. */
  fatal: unknown;

  constructor(isPaired: boolean, hardStop: AbortController) {
    this.#isPaired = isPaired;
    this.#hardStop = hardStop;
  }

  handle(entry: TvLogEntry): void {
    if (entry.what === 'bound') this.#isPaired = true;
    if (entry.what !== 'failure' || this.#isPaired) return;
    const { error } = entry;
    if (error instanceof SignageError && isRejection(error)) return;
    if (
      error instanceof SignageError &&
      transientCodes.includes(error.code) &&
      ++this.#attempts < maxAttempts
    )
      return;
    this.fatal ??= error;
    this.#hardStop.abort();
  }
}
