import { type Records, type SectionName, shapeOf } from '../../dump/records.ts';
import { parsePlace } from '../../plays.ts';
import { activityDocument } from '../activity/last-activity.ts';
import { idempotencyDocument } from '../events/idempotency-keys.ts';
import { sequenceDocument } from '../events/sequences.ts';
import { prefixOf } from '../rollups/merge.ts';
import { playDocument } from '../rollups/play-documents.ts';
import { keyOfLine, splitLine } from '../rollups/play-lines.ts';
import { rollupDocument } from '../rollups/rollups.ts';
import { lineParsers } from '../state-source.ts';

function checked<S extends SectionName>(section: S, record: Records[S]): Records[S] {
  return shapeOf(section).schema.parse(record);
}

const cellsForm = /^(?:\d+(?:,[\d.e+]+){2,4};?)+"\]$/;

/** By the kind of a document without rows: the name of the document that a line belongs to. */
const documents: Record<string, (text: string, name: string) => string> = {
  rings: (text) => idempotencyDocument(checked('idempotency', lineParsers.rings(text)).deviceId),
  sequences: (text) => sequenceDocument(checked('sequences', lineParsers.sequences(text)).deviceId),
  rollups(text, name) {
    const clock = name.startsWith('rollups-received-') ? 'received' : 'timestamp';
    return rollupDocument(clock, checked('impressions', lineParsers.rollups(text, clock)).day);
  },
  plays(text, name) {
    const clock = name.startsWith('plays-received-') ? 'received' : 'timestamp';
    if (keyOfLine(text)) return name;
    const { place, start } = splitLine(text);
    if (!cellsForm.test(text.slice(start))) return '';
    return playDocument(clock, parsePlace(place, clock).day);
  },
  marks: (text) => activityDocument(checked('marks', lineParsers.marks(text)).id),
};

/** Returns a text by which the lines of a document are sorted. Empty: they need not be. */
export function orderOfLine(text: string, name: string): string {
  if (name.startsWith('rollups-')) return prefixOf(text);
  if (!name.startsWith('plays-')) return '';
  const [number] = keyOfLine(text) ?? [];
  return number === undefined ? splitLine(text).place : `!${String(number).padStart(9, '0')}`;
}

/** Whether an undamaged line is a record that its document may hold. */
export function isRecordLine(text: string, { name }: { name: string }): boolean {
  try {
    return documents[name.slice(0, name.indexOf('-'))]?.(text, name) === name;
  } catch {
    return false;
  }
}
