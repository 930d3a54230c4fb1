import { resolve } from 'node:path';
import type { LogSink } from '../../domain/log.ts';
import type { Running } from '../../serve.ts';
import { changeContexts, contextFile, readContexts, type SavedContext } from '../api/contexts.ts';
import { shellQuote } from '../records/text.ts';
import type { Io } from '../terminal/io.ts';
import { isCi } from '../terminal/prompter.ts';
import { pairs } from '../terminal/wrap.ts';
import type { KnownToken } from './admin-token.ts';
import type { ServeValues } from './options.ts';
import { shownPlace } from './store-location.ts';

const name = 'local';

/** Replaces the wildcard address by the loopback address. */
function localUrl(url: string): string {
  const local = new URL(url);
  if (local.hostname === '0.0.0.0') local.hostname = '127.0.0.1';
  if (local.hostname === '[::]') local.hostname = '[::1]';
  return local.origin;
}

/**
 * Returns the saved token if this service accepts it. Only the first start knows the token that it
 * creates; later starts use the saved one. The request that checks the token stays within the
 * process.
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
 * Returns the flags that commands need for this context: `''` or `' --context local'`. Returns
 * `undefined` if nothing was saved.
 */
async function saveLocalContext(
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

/** Returns a curl command that works as printed. */
function curlCommand(url: string, { token, show, file }: KnownToken): string {
  if (file !== undefined)
    return `curl -H "Authorization: Bearer $(cat ${shellQuote(file)})" ${url}/v1/me`;
  if (show) return `curl -H 'Authorization: Bearer ${token}' ${url}/v1/me`;
  return token === undefined
    ? `curl ${url}/healthz`
    : `curl -H "Authorization: Bearer $SIGNAGE_ADMIN_TOKEN" ${url}/v1/me`;
}

/** Returns the command that logs in to this service. It never contains the token. */
function loginCommand(url: string, { file }: KnownToken, { tlsCert }: ServeValues): string {
  const token = file === undefined ? '' : ` --token-file ${shellQuote(resolve(file))}`;
  const certificate = tlsCert === undefined ? '' : ` --ca-file ${shellQuote(resolve(tlsCert))}`;
  return `signage login --url ${localUrl(url)}${token}${certificate}`;
}

/** Returns the text for a service that is ready. `flags` is the result of `saveLocalContext`. */
function banner(
  url: string,
  settings: ServeValues,
  known: KnownToken,
  flags: string | undefined,
  isTerminal: boolean,
): string {
  const rows: [string, string][] = [
    ['Service', url],
    ['Reference', `${url}/docs`],
    ['Data', shownPlace(settings)],
  ];
  if (known.show && known.token)
    rows.push(['Token', `${known.token}  (shown only once; it allows everything)`]);
  if (known.file) rows.push(['Token file', known.file]);
  const next: [string, string][] =
    flags === undefined
      ? [
          ['Log in:', loginCommand(url, known, settings)],
          ['Try:', curlCommand(url, known)],
        ]
      : [['Try:', `signage venue list${flags}`]];
  if (isTerminal) next.push(['Stop:', 'Ctrl-C']);
  return `\n${pairs(rows)}\n${pairs(next)}\n`;
}

/**
 * Prints how to reach the service, and saves the context `local`. If it cannot be saved, logs the
 * error.
 */
export async function welcome(
  running: Running,
  known: KnownToken,
  settings: ServeValues,
  log: LogSink,
  io: Io,
): Promise<void> {
  const flags = await saveLocalContext(running, known.token, settings, io).catch((err: unknown) => {
    log.warn(
      { err },
      'The context "local" could not be saved: set SIGNAGE_URL and SIGNAGE_TOKEN for commands.',
    );
    return undefined;
  });
  io.stdout.write(banner(running.url, settings, known, flags, io.stdin.isTTY));
}
