import { join } from 'node:path';
import { SignageError } from '../domain/error.ts';
import type { Io } from './io.ts';
import { readSecretFile, writeSecretFile } from './secret-file.ts';
import type { ServeValues } from './serve-settings.ts';
import { usage } from './settings.ts';

/** The platform token as far as it is known, and how people come by it. */
export interface KnownToken {
  token: string | undefined;
  /** Set when this start made the token and a terminal may show it. */
  show: boolean;
  /** The file that holds it. */
  file: string | undefined;
}

/** Refuses a start whose new token nobody would ever see: in memory, off a terminal, and none given. */
export function requireTokenPlace({ store }: ServeValues, io: Io): void {
  if (store !== 'memory' || io.env.SIGNAGE_ADMIN_TOKEN || io.stdout.isTTY) return;
  throw usage(
    'With --store memory and no terminal there is no place for the platform token: set SIGNAGE_ADMIN_TOKEN to mak_ and at least 24 letters and digits.',
  );
}

async function keep(file: string, token: string): Promise<void> {
  try {
    await writeSecretFile(file, token);
  } catch (error) {
    const how = 'Start again with SIGNAGE_ADMIN_TOKEN set (mak_ and at least 24 letters and digits): that becomes the platform token.';
    throw new SignageError('token_not_kept', `The platform token cannot be written to ${file}: ${(error as Error).message}. ${how}`, {
      cause: error,
    });
  }
}

/**
 * Takes care of the token that a first start made. A terminal shows it; off one it goes into the file `admin-token` of the data folder.
 * The demonstration keeps it there in any case, for its TVs are paired anew at each start, and reads it from there.
 */
export async function settleToken(made: string | undefined, { data, store, demo }: ServeValues, io: Io): Promise<KnownToken> {
  if (io.env.SIGNAGE_ADMIN_TOKEN) return { token: made, show: false, file: undefined };
  const file = store === 'json' ? join(data, 'admin-token') : undefined;
  if (made === undefined) {
    const token = file && (await readSecretFile(file, 'The token file').catch(() => undefined));
    return { token, show: false, file: token && file };
  }
  const inFile = file !== undefined && (demo || !io.stdout.isTTY);
  if (inFile) await keep(file, made);
  return { token: made, show: io.stdout.isTTY, file: inFile ? file : undefined };
}
