import { open, readFile } from 'node:fs/promises';
import { usage } from '../options/settings.ts';
import { checkSecretAccess } from './file-access.ts';

/** The secret that a file holds, without the line break at its end. Throws `usage` when it cannot be had; the message never shows it. */
export async function readSecretFile(path: string, what: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw usage(`${what} cannot be read: ${(error as Error).message}.`);
  }
  if (text.trim() === '') throw usage(`${what} is empty: ${path}.`);
  return text.trim();
}

/** The token that a file holds. Throws `usage` as `readSecretFile` does, and `open_to_others` for a file that others on the machine can change. */
export async function readTokenFile(path: string): Promise<string> {
  await checkSecretAccess(path);
  return readSecretFile(path, 'The token file');
}

/** Writes a secret to a new file that only its owner may read, durably. Nothing that is there already is followed or overwritten. */
export async function writeSecretFile(path: string, secret: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
