import { resolve } from 'node:path';
import type { Running } from '../../serve.ts';
import { changeContexts, contextFile, readContexts, type SavedContext } from '../api/contexts.ts';
import type { Io } from '../terminal/io.ts';
import { isCi } from '../terminal/prompter.ts';
import type { ServeValues } from './options.ts';

const name = 'local';

/** The address at which this machine reaches a service that listens on all of its addresses. */
function ownUrl(url: string): string {
  const own = new URL(url);
  if (own.hostname === '0.0.0.0') own.hostname = '127.0.0.1';
  if (own.hostname === '[::]') own.hostname = '[::1]';
  return own.origin;
}

/** The saved token, if this service takes it: later starts do not know theirs. It is asked within the process. */
async function tokenThatStillWorks(
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
 * Saves the context `local` for a service that somebody has just started at a terminal, so that the next command works; it becomes the
 * current one only when there is none. Answers how commands reach it (`''`, or `' --context local'`), or `undefined` when nothing was saved.
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
  const known = token ?? (await tokenThatStillWorks(running, before.contexts[name]));
  if (known === undefined) return undefined;
  const saved: SavedContext = { url: ownUrl(running.url), token: known };
  if (settings.tlsCert !== undefined) saved.caFile = resolve(settings.tlsCert);
  await changeContexts(io, (all) => {
    all.contexts[name] = saved;
    all.current ??= name;
  });
  return before.current === undefined || before.current === name ? '' : ` --context ${name}`;
}
