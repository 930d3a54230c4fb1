import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SignageError } from '../../../domain/error.ts';
import type { LogSink } from '../../../domain/log.ts';
import type { Running } from '../../../serve.ts';
import { readSecretFile, writeSecretFile } from '../../connection/private-file.ts';
import { fileProblem } from '../../input/file-error.ts';
import { usage } from '../../input/settings.ts';
import type { Io } from '../../terminal/io.ts';
import { shellQuote } from '../../terminal/text.ts';
import type { ServeValues } from './options.ts';

/** The platform token, if known, and where users find it. */
export interface KnownToken {
  token: string | undefined;
  /** Whether to show the token at the terminal, because this start created it. */
  show: boolean;
  file: string | undefined;
}

/** Throws `usage` if a new token would be lost: in-memory store, no terminal, no token given. */
export function requireTokenPlace({ store }: ServeValues, io: Io): void {
  if (store !== 'memory' || io.env.SIGNAGE_ADMIN_TOKEN || io.stdout.isTTY) return;
  throw usage(
    'With --store memory and no terminal the platform token would be lost: set SIGNAGE_ADMIN_TOKEN to mak_ and at least 24 letters and digits.',
  );
}

/** Returns the file for the token, or `undefined` without a data folder. */
const tokenFile = ({ data, store }: ServeValues) =>
  store === 'json' ? join(data, 'admin-token') : undefined;

/**
 * Whether the token is written to its file. At a terminal it is shown instead. The demo always
 * writes it, because each start of the demo needs the token to pair TVs.
 */
const isKept = ({ demo }: ServeValues, io: Io) => demo || !io.stdout.isTTY;

/**
 * Throws `usage` if a new token would replace the one in the token file, which may be the only copy
 * of that token.
 */
export function requireTokenFile(settings: ServeValues, io: Io): void {
  const file = tokenFile(settings);
  if (file === undefined || !isKept(settings, io) || !existsSync(file)) return;
  throw usage(
    `${file} already contains a platform token, and the new one would be written there.`,
    `Use that token: signage login --token-file ${shellQuote(resolve(file))}. If it no longer works, move the file away and start again.`,
  );
}

/**
 * Writes the token that this start created to the file `admin-token` in the data folder. Returns
 * the path, or `undefined` if it is shown instead. Throws `token_not_kept` if it cannot be written.
 */
export async function keepToken(
  token: string,
  settings: ServeValues,
  io: Io,
): Promise<string | undefined> {
  const file = tokenFile(settings);
  if (file === undefined || !isKept(settings, io)) return undefined;
  try {
    await writeSecretFile(file, token);
    return file;
  } catch (error) {
    const how =
      'Start again with SIGNAGE_ADMIN_TOKEN set (mak_ and at least 24 letters and digits): that becomes the platform token.';
    throw new SignageError(
      'token_not_kept',
      `The platform token was not saved. ${fileProblem(error, file, 'written')}. ${how}`,
      { cause: error },
    );
  }
}

/**
 * Returns the platform token that an earlier start wrote to its file. Logs a warning if the service
 * does not accept it any more.
 */
async function keptToken(
  running: Running,
  file: string | undefined,
  log: LogSink,
): Promise<KnownToken> {
  const unknown = { token: undefined, show: false, file: undefined };
  if (file === undefined) return unknown;
  const token = await readSecretFile(file, 'the token file').catch(() => undefined);
  if (token === undefined) return unknown;
  if ((await running.identifyToken(token)) !== undefined) return { token, show: false, file };
  log.warn(
    { file },
    'The token in this file no longer works: it was rotated or deleted. Delete the file. A saved context of this service is used in its place, if there is one.',
  );
  return unknown;
}

/** Returns the platform token of a running service, if it is known. */
export async function knownToken(
  running: Running,
  settings: ServeValues,
  log: LogSink,
  io: Io,
): Promise<KnownToken> {
  const { adminToken: current } = running;
  if (io.env.SIGNAGE_ADMIN_TOKEN) return { token: current, show: false, file: undefined };
  const file = tokenFile(settings);
  if (current === undefined) return keptToken(running, file, log);
  return { token: current, show: io.stdout.isTTY, file: isKept(settings, io) ? file : undefined };
}
