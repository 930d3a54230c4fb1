import { resolve } from 'node:path';
import { hasPassword, isDatabaseUrl, publicUrl } from '../../domain/store-url.ts';
import { readSecretFile } from '../api/private-file.ts';
import type { Flags } from '../command/environment.ts';
import { type Setting, text, usage } from '../options/settings.ts';

function readStore(value: string, source: string): string {
  if (value === 'json' || value === 'memory' || isDatabaseUrl(value)) return value;
  // Not quoted: it may be a URL with a slip in it, and a password.
  throw usage(`${source} must be json, memory or postgres://user@host/database.`);
}

/** Where the data are: `json`, `memory`, or the URL of a database. */
export const storeSetting: Setting<string> = {
  flags: '--store <kind>',
  env: 'SIGNAGE_STORE',
  help: 'json keeps the data in the folder; memory forgets it at the end; postgres://user@host/database keeps it in PostgreSQL',
  read: readStore,
  initial: 'json',
  shown: 'json',
  choices: ['json', 'memory'],
};

export const storeFileSetting = text(
  '--store-file <file>',
  'SIGNAGE_STORE_FILE',
  'file that holds the URL of the database, with its password',
);

/** The store that the settings mean, once the file is read. Throws `usage`. */
export async function givenStore({
  store,
  storeFile,
}: {
  store: string;
  storeFile: string | undefined;
}): Promise<string> {
  if (storeFile === undefined) return store;
  if (store !== 'json')
    throw usage('--store and --store-file both say where the data are: leave one out.');
  return readStore(
    await readSecretFile(storeFile, 'The file of --store-file'),
    `The file ${storeFile}`,
  );
}

/** Whether a password stands in the command line. */
export function showsPassword({ store }: Flags): boolean {
  return typeof store === 'string' && hasPassword(store);
}

/** The store's place as the service takes it. */
export function storePlace({ store, data }: { store: string; data: string }): string {
  if (store === 'memory') return 'memory:';
  return store === 'json' ? data : store;
}

/** The same for people. */
export function shownPlace({ store, data }: { store: string; data: string }): string {
  if (store === 'memory') return 'in memory, gone at the end';
  return store === 'json' ? resolve(data) : publicUrl(store);
}

/** Where one of two stores is: a data folder, or a database. */
export function readPlace(value: string, source: string): string {
  if (isDatabaseUrl(value) || !/^([a-z][a-z0-9+]+:|(json|memory)$)/i.test(value)) return value;
  throw usage(`${source} must be a data folder or postgres://user@host/database.`);
}

/** The place that a flag, or the file of another flag, names. Throws `usage`. */
export async function givenPlace(
  flag: string,
  place: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (place !== undefined && file !== undefined)
    throw usage(`${flag} and ${flag}-file both say where a store is: leave one out.`);
  if (file !== undefined)
    return readPlace(await readSecretFile(file, `The file of ${flag}-file`), `The file ${file}`);
  if (place === undefined)
    throw usage(`${flag} must be given: a data folder, or the URL of a database; or ${flag}-file.`);
  return place;
}
