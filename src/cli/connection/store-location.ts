import { resolve } from 'node:path';
import { hasPassword, isDatabaseUrl, publicUrl } from '../../domain/store-url.ts';
import { text, withVariable } from '../input/option.ts';
import { type Setting, usage } from '../input/settings.ts';
import { readSecretFile } from './private-file.ts';

function readStore(value: string, source: string): string {
  if (value === 'json' || value === 'memory' || isDatabaseUrl(value)) return value;
  // The message does not quote the value, which may be a mistyped URL with a password.
  throw usage(`${source} must be json, memory or postgres://user@host/database.`);
}

/** The store of the service: `json`, `memory`, or the URL of a database. */
export const storeSetting: Setting<string> = {
  flags: '--store <kind>',
  env: 'SIGNAGE_STORE',
  help: 'json keeps the data in the data folder; memory loses it at the end; postgres://user@host/database keeps it in PostgreSQL',
  read: readStore,
  initial: 'json',
  shown: 'json',
  choices: ['json', 'memory'],
};

export const storeFileSetting = withVariable(
  'SIGNAGE_STORE_FILE',
  text('--store-file <file>', 'file with the URL of the database, including the password'),
);

/**
 * Returns the store of `--store`, or of the file of `--store-file`. Throws `usage` if both name
 * one, or if the text in the file is invalid.
 */
export async function givenStore({
  store,
  storeFile,
}: {
  store: string;
  storeFile: string | undefined;
}): Promise<string> {
  if (storeFile === undefined) return store;
  if (store !== 'json')
    throw usage('--store and --store-file both name a store: leave one of them out.');
  return readStore(await readSecretFile(storeFile, '--store-file'), `The file ${storeFile}`);
}

/** Returns the warning about a secret in the command line. `instead` names safer sources. */
export const visibleSecret = (secret: string, instead: string) =>
  `The ${secret} is in the command line, where everyone on this machine can read it: use ${instead}.`;

/** Calls `warn` if a flag is a URL with a password. `instead` names safer sources. */
export function warnOfPassword(
  store: unknown,
  instead: string,
  warn: (message: string) => void,
): void {
  if (typeof store === 'string' && hasPassword(store))
    warn(visibleSecret('database password', instead));
}

/** Returns the location of the store as `serve()` takes it. */
export function storePlace({ store, data }: { store: string; data: string }): string {
  if (store === 'memory') return 'memory:';
  return store === 'json' ? data : store;
}

/** Returns the location of the store for people, without a password. */
export function shownPlace({ store, data }: { store: string; data: string }): string {
  if (store === 'memory') return 'in memory, lost at the end';
  return store === 'json' ? resolve(data) : publicUrl(store);
}

/**
 * Parses the location of a store to copy: a data folder, or a database URL. Throws `usage` for
 * other texts.
 */
export function readPlace(value: string, source: string): string {
  if (isDatabaseUrl(value) || !/^([a-z][a-z0-9+]+:|(json|memory)$)/i.test(value)) return value;
  throw usage(`${source} must be a data folder or postgres://user@host/database.`);
}

/**
 * Returns the location given by `flag`, or by the file that `flag`-file names. Throws `usage`
 * unless exactly one of them is given.
 */
export async function givenPlace(
  flag: string,
  place: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (place !== undefined && file !== undefined)
    throw usage(`${flag} and ${flag}-file both name a store: leave one of them out.`);
  if (file !== undefined)
    return readPlace(await readSecretFile(file, `${flag}-file`), `The file ${file}`);
  if (place === undefined)
    throw usage(`Give ${flag}, a data folder or the URL of a database, or ${flag}-file.`);
  return place;
}
