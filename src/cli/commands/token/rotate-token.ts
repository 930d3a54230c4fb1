import type { CallAnswer } from '../../../client/call.ts';
import type { Token } from '../../../client/entities.ts';
import { connect } from '../../connection/connect.ts';
import { changeContexts, readContexts, type SavedContext } from '../../connection/contexts.ts';
import { keepSecret } from '../../connection/keep-secret.ts';
import { reserveFile } from '../../connection/private-file.ts';
import type { CommandContext } from '../../program/context.ts';
import {
  createdTokenView,
  knownTokenView,
  namesInReach,
} from '../../records/views/access-views.ts';

interface RotationOptions {
  /** Whether to use the new secret once, which ends the old one. */
  now: boolean;
  /** New file for the secret. `undefined`: print it. */
  outputFile: string | undefined;
}

type Rotated = CallAnswer<'rotateToken'>;

/** Uses a secret once. Names no tenant, because `getMe` needs none. */
async function use(call: CommandContext, secret: string): Promise<void> {
  const profile = await call.profile();
  const token = { value: secret, source: 'token rotate' };
  const other = { ...profile, tenant: undefined, token };
  const { client } = await connect(other, call, call.common);
  await client.call('getMe', { signal: call.interrupted });
}

/**
 * Returns a function that tests whether a context of this service holds the token. Sends no secret
 * to the service, because the first use of a new secret would end the old one.
 */
async function makeHolds(
  call: CommandContext,
  tokenId: string,
): Promise<(saved: SavedContext) => boolean> {
  const { origin } = new URL((await call.profile()).url.value);
  return (saved) => new URL(saved.url).origin === origin && saved.tokenId === tokenId;
}

/**
 * Replaces the saved secrets of a token by the new one. Returns the names of the changed contexts.
 * Throws `contexts_unusable` if the file cannot be read or written.
 */
async function saveInContexts(
  call: CommandContext,
  holds: (saved: SavedContext) => boolean,
  { token }: Rotated,
): Promise<string[]> {
  const changed: string[] = [];
  await changeContexts(call.io, ({ contexts }) => {
    for (const [name, saved] of Object.entries(contexts)) {
      if (!holds(saved)) continue;
      saved.token = token;
      changed.push(name);
    }
  });
  return changed;
}

const notSaved = ({ oldTokenUntil }: Rotated) =>
  `The new secret was not saved. The old one works until ${oldTokenUntil}: run this command again before that time.`;

/**
 * Rotates a token. Before it prints anything, saves the new secret in `outputFile` and in the
 * contexts that hold the token. After an interruption, the old secret still works, because nobody
 * has used the new one.
 */
async function rotateAndSave(
  call: CommandContext,
  id: string,
  outputFile: string | undefined,
): Promise<{ rotated: Rotated; contexts: string[] } | undefined> {
  const params = { id };
  if (call.common.dryRun) {
    await call.change('rotateToken', { params });
    return undefined;
  }
  const holds = await makeHolds(call, id);
  const isSaved = Object.values((await readContexts(call.io)).contexts).some(holds);
  const file =
    outputFile === undefined ? undefined : await reserveFile(outputFile, '--output-file');
  let made: { answer: Rotated } | undefined;
  try {
    made = await call.change('rotateToken', { params });
    if (!made) return undefined;
    await file?.write(made.answer.token);
    const contexts = isSaved ? await saveInContexts(call, holds, made.answer) : [];
    return { rotated: made.answer, contexts };
  } catch (error) {
    await file?.discard();
    if (made) call.note(notSaved(made.answer));
    throw error;
  }
}

/**
 * With `--now`, uses the new secret once, which ends the old one. Otherwise prints the time at
 * which the old one ends.
 */
async function endOld(
  call: CommandContext,
  { token, oldTokenUntil }: Rotated,
  now: boolean,
): Promise<void> {
  const overlap = `The old secret works until the new one is first used, and until ${oldTokenUntil} at the latest.`;
  if (!now) return call.note(overlap);
  try {
    await use(call, token);
  } catch (error) {
    call.note(overlap);
    throw error;
  }
  call.note('The old secret no longer works.');
}

/** Gives a token a new secret, and saves or prints it. */
export async function rotateToken(
  call: CommandContext,
  found: Token,
  { now, outputFile }: RotationOptions,
): Promise<void> {
  const { tokenId } = await call.read('getMe');
  const isInUse = tokenId === found.id;
  const venueOf = await namesInReach(call, found);
  const saved = await rotateAndSave(call, found.id, outputFile);
  if (!saved) return;
  const { rotated, contexts } = saved;
  const { token: _secret, ...known } = rotated;
  if (outputFile === undefined) {
    const show = () => call.results.record(rotated, createdTokenView(venueOf, call.clock.now()));
    const undone = contexts.length > 0 ? 'The contexts have the new secret.' : notSaved(rotated);
    await keepSecret(show, { undo: async () => undone, left: undone });
  } else await call.results.record(known, knownTokenView(venueOf, call.clock.now()));
  for (const name of contexts) call.note(`Saved in the context "${name}".`);
  if (outputFile !== undefined) call.note(`The token is in ${outputFile}.`);
  else if (contexts.length === 0) call.note('Save the token now: it is not shown again.');
  const { token } = await call.profile();
  if (isInUse && !token?.source.startsWith('context '))
    call.note(`You are using this token: replace it in ${token?.source}.`);
  await endOld(call, rotated, now);
}
