import { open, readFile } from 'node:fs/promises';
import { usage } from '../options/settings.ts';
import { checkSecretAccess } from './file-access.ts';

/** Reads a secret from a file, trimmed. Throws `usage`, never with the secret in the message. */
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

/** As `readSecretFile`. Throws `open_to_others` for a file that other users can change. */
export async function readTokenFile(path: string): Promise<string> {
  await checkSecretAccess(path);
  return readSecretFile(path, 'The token file');
}

/** Writes a secret durably to a new file with mode 0600. Never overwrites, never follows a link. */
export async function writeSecretFile(path: string, secret: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
