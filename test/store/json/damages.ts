import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileSystem, writeFully } from '../../../src/store/json/disk/file-system.ts';
import { makeMemoryFileSystem } from '../../../src/store/json/disk/memory-file-system.ts';

/** Damage to one file of a data folder. `null`: the file is deleted. */
export interface Damage {
  file: string;
  what: string;
  bytes: Buffer | null;
}

/** Returns a copy with one changed bit. */
export function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x01;
  return copy;
}

/** Returns the lines of a file, with their line feeds. */
export function linesOf(bytes: Buffer): Buffer[] {
  const lines = bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return lines.map((line) => Buffer.from(line, 'latin1'));
}

/** Swaps line `at` and the next one. */
export function swapped(lines: readonly Buffer[], at: number): { what: string; bytes: Buffer } {
  const [one, other] = [lines[at] as Buffer, lines[at + 1] as Buffer];
  return {
    what: `lines ${at + 1} and ${at + 2} swapped`,
    bytes: Buffer.concat([...lines.slice(0, at), other, one, ...lines.slice(at + 2)]),
  };
}

/** Files of a data folder, by name. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** A folder's contents as `/data` on an in-memory disk, with one damaged file. */
export async function damagedDisk(
  contents: Record<string, string>,
  damage: Damage,
): Promise<FileSystem> {
  const disk = makeMemoryFileSystem();
  for (const [file, text] of Object.entries(contents)) {
    const bytes = file === damage.file ? damage.bytes : Buffer.from(text, 'latin1');
    if (bytes) await writeFully(await disk.create(`/data/${file}`), bytes);
  }
  return disk;
}

/**
 * For each file: a changed byte at several offsets, truncation at several (also between two lines),
 * some neighbouring lines swapped, and deletion.
 */
export async function damagesOf(folder: string): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const file of await filesIn(folder)) {
    const bytes = await readFile(join(folder, file));
    const places = new Set([
      0,
      12,
      Math.floor(bytes.length / 3),
      Math.floor(bytes.length / 2),
      bytes.length - 2,
      bytes.length - 1,
    ]);
    for (const at of places)
      damages.push({ file, what: `the byte at ${at} has changed`, bytes: flipped(bytes, at) });
    const ends = new Set([
      0,
      Math.floor(bytes.length / 2),
      bytes.lastIndexOf('\n', -2) + 1,
      bytes.length - 1,
    ]);
    for (const end of ends)
      damages.push({ file, what: `truncated after ${end} bytes`, bytes: bytes.subarray(0, end) });
    const lines = linesOf(bytes);
    for (const at of new Set([0, Math.floor(lines.length / 2), lines.length - 2]))
      if (at >= 0 && at + 1 < lines.length) damages.push({ file, ...swapped(lines, at) });
    damages.push({ file, what: 'gone', bytes: null });
  }
  return damages;
}
