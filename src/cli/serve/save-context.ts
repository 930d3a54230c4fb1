import { resolve } from 'node:path';
import type { Running } from '../../serve.ts';
import { changeContexts, contextFile, readContexts, type SavedContext } from '../api/contexts.ts';
import type { Io } from '../terminal/io.ts';
import { isCi } from '../terminal/prompter.ts';
import type { ServeValues } from './options.ts';

const name = 'local';

/** Replaces the wildcard address by the loopback address. */
function localUrl(url: string): string {
  const local = new URL(url);
  if (local.hostname === '0.0.0.0') local.hostname = '127.0.0.1';
  if (local.hostname === '[::]') local.hostname = '[::1]';
  return local.origin;
}

/**
 * Returns the saved token if this service accepts it. Only the first start knows its token. The
 * request stays within the process.
 */
async function savedTokenIfValid(
  running: Running,
  saved: SavedContext | undefined,
): Promise<string | undefined> {
  if (saved === undefined) return undefined;
  const answer = await running.fetch(
    new Request(`${running.url}/v1/me`, { headers: { authorization: `Bearer ${saved.token}` } }),
  );
  await answer.body?.cancel();
  return answer.status === 200 ? saved.token : undefined;
}

/**
 * Saves the context `local` for a service started at a terminal, so that commands work at once. It
 * becomes the current context only if there is none.
 * Returns the flags with which commands reach it (`''` or `' --context local'`), or `undefined` if
 * it saved nothing.
 */
export async function saveLocalContext(
  running: Running,
  token: string | undefined,
  settings: ServeValues,
  io: Io,
): Promise<string | undefined> {
  if (settings.noContext || !io.stdout.isTTY || isCi(io) || (await contextFile(io)) === undefined)
    return undefined;
  const before = await readContexts(io);
  const known = token ?? (await savedTokenIfValid(running, before.contexts[name]));
  if (known === undefined) return undefined;
  const saved: SavedContext = { url: localUrl(running.url), token: known };
  if (settings.tlsCert !== undefined) saved.caFile = resolve(settings.tlsCert);
  await changeContexts(io, (all) => {
    all.contexts[name] = saved;
    all.current ??= name;
  });
  return before.current === undefined || before.current === name ? '' : ` --context ${name}`;
}
