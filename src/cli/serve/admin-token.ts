import { join } from 'node:path';
import { SignageError } from '../../domain/error.ts';
import { readSecretFile, writeSecretFile } from '../api/private-file.ts';
import { usage } from '../options/settings.ts';
import type { Io } from '../terminal/io.ts';
import type { ServeValues } from './options.ts';

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

/** The file that a start writes its token to; `undefined` where there is no data folder. */
const tokenFile = ({ data, store }: ServeValues) =>
  store === 'json' ? join(data, 'admin-token') : undefined;

/** A terminal shows the token instead, except that the demonstration pairs its TVs anew at each start and needs it then. */
const isKept = ({ demo }: ServeValues, io: Io) => demo || !io.stdout.isTTY;

/** Writes the token that a first start made to the file `admin-token` of the data folder, and returns the path. Throws `token_not_kept`. */
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
      `The platform token cannot be written to ${file}: ${(error as Error).message}. ${how}`,
      {
        cause: error,
      },
    );
  }
}

/** The platform token of a service that has started, and how people come by it. `made` is the token that the start made or was given. */
export async function knownToken(
  made: string | undefined,
  settings: ServeValues,
  io: Io,
): Promise<KnownToken> {
  if (io.env.SIGNAGE_ADMIN_TOKEN) return { token: made, show: false, file: undefined };
  const file = tokenFile(settings);
  if (made === undefined) {
    const token = file && (await readSecretFile(file, 'The token file').catch(() => undefined));
    return { token, show: false, file: token && file };
  }
  return { token: made, show: io.stdout.isTTY, file: isKept(settings, io) ? file : undefined };
}
