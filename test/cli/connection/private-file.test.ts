import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSecretFile, writeSecretFile } from '../../../src/cli/connection/private-file.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signage-secret-'));
  path = join(folder, 'token');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('writeSecretFile', () => {
  it('creates a file that only its owner can read', async () => {
    await writeSecretFile(path, 'mak_abc');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await readSecretFile(path, 'The file')).toBe('mak_abc');
  });

  it('neither overwrites a file nor follows a link', async () => {
    writeFileSync(path, 'mine');
    await expect(writeSecretFile(path, 'mak_abc')).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(path, 'utf8')).toBe('mine');
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'));
    await expect(writeSecretFile(join(folder, 'link'), 'mak_abc')).rejects.toMatchObject({
      code: 'EEXIST',
    });
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  });
});

describe('readSecretFile', () => {
  it.each([
    ['in UTF-16, as Windows writes it', Buffer.from('\ufeffmak_abc\r\n', 'utf16le')],
    ['in UTF-8 with a byte order mark', Buffer.from('\ufeffmak_abc\n')],
    ['with quotes around it', Buffer.from('"mak_abc"\r\n')],
    ['in UTF-16 with quotes', Buffer.from("\ufeff'mak_abc'\r\n", 'utf16le')],
  ])('reads a secret %s', async (_, bytes) => {
    writeFileSync(path, bytes);
    expect(await readSecretFile(path, 'The file')).toBe('mak_abc');
  });

  it.each(['', ' \n'])('rejects a file with the content %j', async (text) => {
    writeFileSync(path, text);
    await expect(readSecretFile(path, 'The file')).rejects.toMatchObject({
      code: 'usage',
      message: `${path} is empty (The file).`,
    });
  });

  it('names the file that does not exist', async () => {
    await expect(readSecretFile(path, 'The file')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(path),
    });
  });
});
