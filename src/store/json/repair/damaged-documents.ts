import { crc32 } from 'node:zlib';
import type { DocumentEntry } from '../checkpoint/document-file.ts';
import { documentLine, textOfLine } from '../checkpoint/document-line.ts';
import type { WrittenDocument } from '../checkpoint/document-owner.ts';
import type { ManifestData } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { checksumText } from '../log/checksum.ts';
import { readFrames } from '../log/frame.ts';
import { isRecordLine, orderOfLine } from './record-line.ts';

/** One version of a document, as its lines tell. */
export interface DocumentVersion {
  name: string;
  /** The file's name in the data folder. */
  path: string;
  /** Like the entry in the manifest. Only complete for a whole document. `seq` is 0 if unknown. */
  entry: DocumentEntry;
  /** Number of its lines. `undefined`: unknown. */
  expected: number | undefined;
  /** Number of undamaged lines. */
  found: number;
  /** Whether the manifest names another version, of which this may be an older copy. */
  isOther: boolean;
  /** Problem of the version, and the offset of the first damage. `undefined`: it is whole. */
  problem: { what: string; offset: number | null } | undefined;
}

/** A document: its current version, and other versions that still exist. */
export interface FoundDocument {
  name: string;
  current: DocumentVersion;
  /** Files of other versions, newest first. Empty for a whole document. */
  others: string[];
}

/** Returns whether a line has a record that its document may hold. */
export type TakeLine = (text: string, version: DocumentVersion, offset: number) => boolean;

const pattern = /^((?:rows|disk|marks|rings|rollups|plays|sequences)-.+)\.(\d+)\.json$/;

/** Reads a version of a document, and gives its undamaged lines to `take`. */
export async function readVersion(
  { disk, directory }: PartContext,
  name: string,
  file: string,
  known: DocumentEntry | undefined,
  take: TakeLine,
): Promise<DocumentVersion> {
  const path = `documents/${file}`;
  const entry: DocumentEntry = { file, size: 0, crc: '', seq: known?.seq ?? 0, lines: 0 };
  const version: DocumentVersion = {
    name,
    path,
    entry,
    expected: known?.lines,
    found: 0,
    isOther: false,
    problem: undefined,
  };
  if ((await disk.sizeOf(`${directory}/${path}`)) === undefined) {
    version.problem = { what: 'the file is missing', offset: null };
    return version;
  }
  const damaged = (offset: number) => {
    version.problem ??= { what: 'its contents were changed or damaged', offset };
  };
  let isBegun = false;
  let last = '';
  let isEnded = false;
  let checksum = 0;
  for await (const { line, offset, length } of readFrames(disk, `${directory}/${path}`)) {
    checksum = crc32(length > line.length ? '\n' : '', crc32(line, checksum));
    entry.size = offset + length;
    if (isEnded) damaged(offset);
    const text = textOfLine(line);
    const [, lines] = /^\{"lines":(\d+)\}\]$/.exec(text ?? '') ?? [];
    if (text !== undefined && offset === 0 && /^\d+$/.test(text)) {
      isBegun = true;
      entry.seq = Number(text);
      version.isOther = known !== undefined && known.seq !== entry.seq;
    } else if (lines !== undefined) {
      isEnded = true;
      version.expected = Number(lines);
    } else if (text !== undefined && take(text, version, offset)) {
      version.found++;
      const order = orderOfLine(text, name);
      if (order < last) damaged(offset);
      last = order;
    } else damaged(offset);
    if (length === line.length) damaged(offset);
  }
  entry.crc = checksumText(checksum);
  entry.lines = version.found;
  const isComplete = isBegun && isEnded && version.found === version.expected;
  const isExpected = !known || (known.crc === entry.crc && known.size === entry.size);
  if (!isComplete || !isExpected) damaged(isBegun ? entry.size : 0);
  return version;
}

/**
 * Reads the current version of each document: the one that the manifest names, or the newest one.
 */
export async function readDocuments(
  context: PartContext,
  manifest: ManifestData | undefined,
  take: TakeLine,
): Promise<FoundDocument[]> {
  const files = new Map<string, { file: string; number: number }[]>();
  for (const file of await context.disk.list(`${context.directory}/documents`)) {
    const [, name, number] = pattern.exec(file) ?? [];
    if (name === undefined) continue;
    files.set(name, [...(files.get(name) ?? []), { file, number: Number(number) }]);
  }
  const found: FoundDocument[] = [];
  for (const name of Object.keys(manifest?.documents ?? Object.fromEntries(files)).sort()) {
    const known = manifest?.documents[name];
    const all = (files.get(name) ?? []).sort((one, other) => other.number - one.number);
    const file = known?.file ?? (all[0]?.file as string);
    const current = await readVersion(context, name, file, known, take);
    const others = all.map((one) => one.file).filter((one) => one !== file);
    found.push({ name, current, others: current.problem ? others : [] });
  }
  return found;
}

/** Returns the undamaged lines of the current version of a document. */
export async function undamagedLines(
  context: PartContext,
  { name, current }: FoundDocument,
): Promise<string[]> {
  const lines: string[] = [];
  await readVersion(context, name, current.entry.file, undefined, (text, version) => {
    const isRecord = isRecordLine(text, version);
    if (isRecord) lines.push(text);
    return isRecord;
  });
  return lines;
}

/** A document of these lines, in memory. */
export function documentInMemory(seq: number, lines: Iterable<string>): WrittenDocument {
  const bytes = Buffer.from(Array.from(lines, (line) => documentLine(line)).join(''));
  return {
    seq,
    text: async () => bytes.toString(),
    bytes: async () => bytes,
    async *chunks() {
      yield bytes;
    },
  };
}
