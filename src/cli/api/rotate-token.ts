import type { CallAnswer } from '../../client/call.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import type { Token } from '../records/find.ts';
import { createdTokenView, knownTokenView, namesInReach } from '../records/views/access-views.ts';
import { connect } from './connect.ts';
import { changeContexts, readContexts } from './contexts.ts';
import { reserveFile } from './private-file.ts';

interface RotationOptions {
  /** Whether to use the new secret once, which ends the old one. */
  now: boolean;
  /** New file for the secret. `undefined`: print it. */
  outputFile: string | undefined;
}

type Rotated = CallAnswer<'rotateToken'>;

/** Asks the service for the token of a secret. Names no tenant, because `getMe` needs none. */
async function identify(call: CommandContext, secret: string): Promise<CallAnswer<'getMe'>> {
  const profile = await call.profile();
  const token = { value: secret, source: 'token rotate' };
  const other = { ...profile, tenant: undefined, token };
  const { client } = await connect(other, call, call.common.verbose);
  return client.call('getMe', { signal: call.interrupted });
}

/**
 * Returns the saved secrets of a token: those in contexts of this service that belong to its id.
 * The service tells a secret's token. Secrets that it rejects belong to none.
 */
async function savedSecrets(call: CommandContext, id: string): Promise<ReadonlySet<string>> {
  const { origin } = new URL((await call.profile()).url.value);
  const found = new Set<string>();
  const asked = new Set<string>();
  for (const { url, token } of Object.values((await readContexts(call.io)).contexts)) {
    if (new URL(url).origin !== origin || asked.has(token)) continue;
    asked.add(token);
    try {
      if ((await identify(call, token)).tokenId === id) found.add(token);
    } catch (error) {
      if (!(error instanceof SignageError) || error.status !== 401) throw error;
    }
  }
  return found;
}

/**
 * Replaces saved secrets by the new one. Returns the names of the changed contexts. Throws
 * `contexts_unusable`.
 */
async function saveInContexts(
  call: CommandContext,
  secrets: ReadonlySet<string>,
  token: string,
): Promise<string[]> {
  const changed: string[] = [];
  if (secrets.size === 0) return changed;
  await changeContexts(call.io, ({ contexts }) => {
    for (const [name, saved] of Object.entries(contexts)) {
      if (!secrets.has(saved.token)) continue;
      saved.token = token;
      changed.push(name);
    }
  });
  return changed;
}

/**
 * Rotates a token. Saves the new secret in the contexts that hold the old one, and in the new file,
 * before anything is printed. If this is interrupted, the saved secret goes on working, because
 * nobody has used the new one.
 */
async function rotateAndSave(
  call: CommandContext,
  id: string,
  outputFile: string | undefined,
): Promise<{ rotated: Rotated; contexts: string[] } | undefined> {
  if (call.common.dryRun) {
    await call.change('rotateToken', { params: { id } });
    return undefined;
  }
  const secrets = await savedSecrets(call, id);
  const file =
    outputFile === undefined ? undefined : await reserveFile(outputFile, '--output-file');
  let made: { answer: Rotated } | undefined;
  try {
    made = await call.change('rotateToken', { params: { id } });
    if (!made) return undefined;
    await file?.write(made.answer.token);
    const contexts = await saveInContexts(call, secrets, made.answer.token);
    return { rotated: made.answer, contexts };
  } catch (error) {
    await file?.discard();
    if (made)
      call.note(
        `The new secret was not saved. The old one works until ${made.answer.oldTokenUntil}: run this again before.`,
      );
    throw error;
  }
}

/** Uses the new secret once, which ends the old one. Without `--now`, says until when it works. */
async function endOld(
  call: CommandContext,
  { token, oldTokenUntil }: Rotated,
  now: boolean,
): Promise<void> {
  const overlap = `The old secret works until the new one is first used, and until ${oldTokenUntil} at the latest.`;
  if (!now) return call.note(overlap);
  try {
    await identify(call, token);
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
  const venueOf = await namesInReach(call, found);
  const saved = await rotateAndSave(call, found.id, outputFile);
  if (!saved) return;
  const { rotated, contexts } = saved;
  const { token: _secret, ...known } = rotated;
  if (outputFile === undefined)
    await call.results.record(rotated, createdTokenView(venueOf, call.clock.now()));
  else await call.results.record(known, knownTokenView(venueOf, call.clock.now()));
  for (const name of contexts) call.note(`Saved in the context "${name}".`);
  if (outputFile !== undefined) call.note(`The token is in ${outputFile}.`);
  else if (contexts.length === 0) call.note('Save the token now: it is not shown again.');
  const { token } = await call.profile();
  if (tokenId === found.id && !token?.source.startsWith('context '))
    call.note(`You are using this token: replace it in ${token?.source}.`);
  await endOld(call, rotated, now);
}
