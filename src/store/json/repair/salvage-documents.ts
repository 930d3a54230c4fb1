import type { DocumentEntry } from '../checkpoint/document-file.ts';
import { copyFile } from '../disk/copy-file.ts';
import { hexChecksum } from '../log/checksum.ts';
import { type RepairContext, writeFile } from './repair-context.ts';
import { type Salvaged, salvageLines } from './salvage-lines.ts';

/** A damaged document, and its readable lines. */
export interface DamagedDocument extends Salvaged {
  name: string;
  entry: DocumentEntry;
}

/** Copies all intact documents. Returns them, and the readable lines of the damaged ones. */
export async function salvageDocuments(
  { from, into }: RepairContext,
  documents: Record<string, DocumentEntry>,
): Promise<{ intact: Record<string, DocumentEntry>; damaged: DamagedDocument[] }> {
  const intact: Record<string, DocumentEntry> = {};
  const damaged: DamagedDocument[] = [];
  for (const [name, entry] of Object.entries(documents)) {
    const path = `documents/${entry.file}`;
    const exists = (await from.disk.sizeOf(`${from.directory}/${path}`)) !== undefined;
    const bytes = exists ? await from.disk.readFile(`${from.directory}/${path}`) : Buffer.alloc(0);
    if (bytes.length === entry.size && hexChecksum(bytes) === entry.crc) {
      await copyFile(from.disk, `${from.directory}/${path}`, `${into.directory}/${path}`);
      intact[name] = entry;
    } else damaged.push({ name, entry, ...salvageLines(name, bytes, entry.seq) });
  }
  return { intact, damaged };
}

/** Writes a document. Returns `undefined`, and writes nothing, when it has no lines. */
export async function writeDocument(
  { into }: RepairContext,
  entry: DocumentEntry,
  lines: readonly string[],
): Promise<DocumentEntry | undefined> {
  if (lines.length === 0) return undefined;
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  await writeFile(into, `documents/${entry.file}`, bytes);
  return { ...entry, size: bytes.length, crc: hexChecksum(bytes) };
}
