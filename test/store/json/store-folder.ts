import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { documentLine } from '../../../src/store/json/checkpoint/document-line.ts';
import type { ManifestData } from '../../../src/store/json/checkpoint/manifest.ts';
import { frame } from '../../../src/store/json/log/frame.ts';
import { crashCopy } from '../../support/disk/crash-copy.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

/** A copy of a data folder in its current state, as after a crash of its process. */
export async function copyOf(folder: string): Promise<string> {
  const copy = await temporaryFolder();
  await crashCopy(folder, copy);
  return copy;
}

/** Contents of a folder by path, to check that nothing changed. */
export async function contentsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(
      files
        .sort()
        .map(async (file) => [
          file.slice(folder.length + 1),
          (await readFile(file)).toString('latin1'),
        ]),
    ),
  );
}

export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort();
}

export async function change(path: string, how: (bytes: Buffer) => Buffer): Promise<void> {
  await writeFile(path, how(await readFile(path)));
}

/**
 * Deletes, replaces or changes a file of a data folder, or the first file whose name starts like
 * this.
 */
export async function harm(
  folder: string,
  file: string,
  damage: null | string | ((bytes: Buffer) => Buffer),
): Promise<void> {
  const found = Object.keys(await contentsOf(folder)).find((name) => name.startsWith(file));
  const path = join(folder, found ?? file);
  if (damage === null) await rm(path);
  else if (typeof damage === 'string') await writeFile(path, damage);
  else await change(path, damage);
}

/** Flips one bit. */
export function flipped(offset: number): (bytes: Buffer) => Buffer {
  return (bytes) => {
    bytes[offset] = (bytes[offset] ?? 0) ^ 1;
    return bytes;
  };
}

/** Changes the manifest and sets its checksum. */
export async function changeManifest(
  folder: string,
  how: (manifest: ManifestData) => void,
): Promise<void> {
  const path = join(folder, 'manifest.json');
  const { crc: _crc, ...manifest } = JSON.parse(await readFile(path, 'utf8'));
  how(manifest);
  await writeFile(path, frame(JSON.stringify(manifest).slice(1)));
}

/** Replaces a document and updates its manifest entry. */
export async function forgeDocument(
  folder: string,
  name: string,
  lines: readonly string[],
): Promise<void> {
  const rest = [...lines, `{"lines":${lines.length}}]`];
  const text = documentLine('1', '[') + rest.map((line) => documentLine(line)).join('');
  await changeManifest(folder, ({ documents }) => {
    const crc = crc32(text).toString(16).padStart(8, '0');
    const size = Buffer.byteLength(text);
    documents[name] = { file: `${name}.1.json`, size, crc, seq: 1, lines: lines.length };
  });
  await writeFile(join(folder, 'documents', `${name}.1.json`), text);
}
