import { resolve } from 'node:path';
import type { LogSink } from '../../../domain/log.ts';
import type { Running } from '../../../serve.ts';
import {
  type Contexts,
  changeContexts,
  contextFile,
  readContexts,
  type SavedContext,
} from '../../connection/contexts.ts';
import { shownPlace } from '../../connection/store-location.ts';
import type { Io } from '../../terminal/io.ts';
import { isCi } from '../../terminal/prompter.ts';
import { shellQuote } from '../../terminal/text.ts';
import { pairs } from '../../terminal/wrap.ts';
import type { KnownToken } from './admin-token.ts';
import type { ServeValues } from './options.ts';

/** Replaces the wildcard address by the loopback address. */
function localUrl(url: string): string {
  const local = new URL(url);
  if (local.hostname === '0.0.0.0') local.hostname = '127.0.0.1';
  if (local.hostname === '[::]') local.hostname = '[::1]';
  return local.origin;
}

/** A context that an earlier start of this service saved. */
interface OwnContext {
  name: string;
  token: string;
  tokenId: string;
  role: SavedContext['role'];
}

/**
 * Finds the context that an earlier start of this service saved. With `wantedId`, only a context
 * with this token matches. Without it, any token of this service matches, because later starts do
 * not know the token.
 */
async function findOwnContext(
  running: Running,
  wantedId: string | undefined,
  { contexts }: Contexts,
): Promise<OwnContext | undefined> {
  for (const [name, { token, role }] of Object.entries(contexts)) {
    if (!/^local(-\d+)?$/.test(name)) continue;
    const tokenId = await running.identifyToken(token);
    if (tokenId !== undefined && (wantedId ?? tokenId) === tokenId)
      return { name, token, tokenId, role };
  }
  return undefined;
}

/**
 * Returns the token in the context that an earlier start of this service saved. `undefined` without
 * one, or if the contexts cannot be read.
 */
export async function ownToken(running: Running, io: Io): Promise<string | undefined> {
  const contexts = await readContexts(io).catch(() => undefined);
  return contexts && (await findOwnContext(running, undefined, contexts))?.token;
}

/**
 * Returns the first free name of `local`, `local-2`, …. A saved context may hold the only copy of a
 * token. So the name of a saved context is free only if its service had this address, and kept its
 * data in memory.
 */
function freeName({ contexts }: Contexts, url: string): string {
  const isFree = (name: string) => {
    const saved = contexts[name];
    return saved === undefined || (saved.inMemory === true && saved.url === url);
  };
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'local' : `local-${number}`;
    if (isFree(name)) return name;
  }
}

interface LocalContext {
  name: string;
  /** The flags that commands need for this context: `''` or `' --context local'`. */
  flags: string;
}

/**
 * Saves a context for a service started at a terminal, so that commands work at once. It becomes
 * the current context only if there is none. Returns `undefined` if nothing was saved.
 */
async function saveLocalContext(
  running: Running,
  token: string | undefined,
  settings: ServeValues,
  io: Io,
): Promise<LocalContext | undefined> {
  if (settings.noContext || !io.stdout.isTTY || isCi(io) || (await contextFile(io)) === undefined)
    return undefined;
  const tokenId = token === undefined ? undefined : await running.identifyToken(token);
  const given =
    token === undefined || tokenId === undefined ? undefined : { token, tokenId, role: 'platform' };
  const own = await findOwnContext(running, tokenId, await readContexts(io));
  const known = own ?? given;
  if (known === undefined) return undefined;
  const saved: SavedContext = {
    url: localUrl(running.url),
    token: known.token,
    tokenId: known.tokenId,
    role: known.role,
  };
  if (settings.tlsCert !== undefined) saved.caFile = resolve(settings.tlsCert);
  if (settings.store === 'memory') saved.inMemory = true;
  const local: LocalContext = { name: '', flags: '' };
  await changeContexts(io, (all) => {
    local.name = own?.name ?? freeName(all, saved.url);
    all.contexts[local.name] = saved;
    all.current ??= local.name;
    if (all.current !== local.name) local.flags = ` --context ${local.name}`;
  });
  return local;
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

/** Returns the flags that name this service and its token. They never contain the token. */
function connectionFlags(url: string, { file }: KnownToken, { tlsCert }: ServeValues): string {
  const token = file === undefined ? '' : ` --token-file ${shellQuote(resolve(file))}`;
  const certificate = tlsCert === undefined ? '' : ` --ca-file ${shellQuote(resolve(tlsCert))}`;
  return ` --url ${localUrl(url)}${token}${certificate}`;
}

/** Returns the text for a service that is ready. */
function banner(
  url: string,
  settings: ServeValues,
  known: KnownToken,
  context: LocalContext | undefined,
  { program, stdin }: Pick<Io, 'program' | 'stdin'>,
): string {
  const rows: [string, string][] = [
    ['Service', url],
    ...(settings.noPlayer ? [] : [['Player', `${url}/player`] as [string, string]]),
    ['Reference', `${url}/docs`],
    ['Data', shownPlace(settings)],
  ];
  if (known.show && known.token)
    rows.push(['Token', known.token], ['', 'shown only once; it allows everything']);
  if (known.file) rows.push(['Token file', known.file]);
  if (context) rows.push(['Context', context.name]);
  const flags = connectionFlags(url, known, settings);
  const next: [string, string][] = context
    ? [
        ['Try:', `${program} pair${context.flags}`],
        ['Look:', `${program} board --open${context.flags}`],
      ]
    : [
        ['Log in:', `${program} login${flags}`],
        ['Try:', curlCommand(url, known)],
        // Without a file, only the login knows the token.
        ['Look:', `${program} board --open${known.file === undefined ? '' : flags}`],
      ];
  if (!context && known.token === undefined)
    next.push(['No token?', 'start again with --new-admin-token, or with SIGNAGE_ADMIN_TOKEN set']);
  if (stdin.isTTY) next.push(['Stop:', 'Ctrl-C']);
  return `\n${pairs(rows)}\n${pairs(next)}\n`;
}

/**
 * Prints how to reach the service, and saves a context for it. If the context cannot be saved, logs
 * a warning.
 */
export async function welcome(
  running: Running,
  known: KnownToken,
  settings: ServeValues,
  log: LogSink,
  io: Io,
): Promise<void> {
  const saving = saveLocalContext(running, known.token, settings, io);
  const context = await saving.catch((err: unknown) => {
    log.warn(
      { err },
      'The context could not be saved: set SIGNAGE_URL and SIGNAGE_TOKEN for commands.',
    );
    return undefined;
  });
  io.stdout.write(banner(running.url, settings, known, context, io));
}
