import { type PlayCell, textOfKey } from '../../../domain/events/plays.ts';
import { type SequenceState, withNumbers } from '../../../domain/events/sequence.ts';
import { playCell } from '../../dump/records.ts';
import { placeText } from '../../plays.ts';
import { keyEntries, rememberedKeys } from '../events/idempotency-keys.ts';
import type { Lines } from '../rollups/day-documents.ts';
import { prefixOf } from '../rollups/merge.ts';
import { mergedPlays, PlayCounter, playRecords } from '../rollups/play-lines.ts';

type Merge = (line: string, rebuilt: string) => string;

const impressionsOf = (line: string) => (JSON.parse(line) as unknown[]).at(-2) as number;

/** By the kind of a document: merges a line with the rebuilt one. Nothing is counted twice. */
const merges: Record<'rollups' | 'rings' | 'sequences', Merge> = {
  rollups: (line, rebuilt) => (impressionsOf(rebuilt) > impressionsOf(line) ? rebuilt : line),
  rings(line, rebuilt) {
    const [deviceId, encoded] = JSON.parse(line);
    const entries = new Set([...keyEntries(encoded), ...keyEntries(JSON.parse(rebuilt)[1])]);
    const newest = [...entries].slice(-rememberedKeys).join('');
    return JSON.stringify([deviceId, Buffer.from(newest, 'hex').toString('base64')]);
  },
  sequences(line, rebuilt) {
    const [deviceId, state]: [string, SequenceState] = JSON.parse(line);
    const [, more]: [string, SequenceState] = JSON.parse(rebuilt);
    const conflicts = Math.max(state.conflicts, more.conflicts);
    return JSON.stringify([deviceId, { ...withNumbers(state, more.ranges), conflicts }]);
  },
};

/**
 * Returns the undamaged lines of a document, merged with those rebuilt from the events. Lines of
 * unknown devices are not rebuilt.
 */
export async function mergedLines(
  kind: keyof typeof merges,
  lines: readonly string[],
  rebuilt: Lines,
  isKnownDevice: (id: string) => boolean,
): Promise<{ sorted: string[]; added: number }> {
  const isRollup = kind === 'rollups';
  const keyOf = isRollup ? prefixOf : (line: string) => JSON.parse(line)[0] as string;
  const merged = new Map(lines.map((line) => [keyOf(line), line]));
  let added = 0;
  for await (const more of rebuilt) {
    const key = keyOf(more);
    const line = merged.get(key);
    if (line === undefined && !isRollup && !isKnownDevice(key)) continue;
    const result = line === undefined ? more : merges[kind](line, more);
    if (result !== line) added++;
    merged.set(key, result);
  }
  const sorted = [...merged.keys()].sort().map((key) => merged.get(key) as string);
  return { sorted, added };
}

/**
 * Returns the lines of a damaged document of plays, merged with those rebuilt from the events. Of
 * two cells, the one with more events stays.
 */
export async function mergedPlayLines(
  name: string,
  lines: readonly string[],
  rebuilt: Lines,
): Promise<{ sorted: string[]; added: number }> {
  const clock = name.startsWith('plays-received-') ? 'received' : 'timestamp';
  const most = new Map<string, { place: string; text: string; cell: PlayCell }>();
  const added = new Set<string>();
  // Sorted: the lines that number keys come first.
  for (const source of [lines.toSorted(), rebuilt]) {
    for await (const { cells, ...record } of playRecords(source, clock)) {
      const place = placeText({ ...record, simulated: record.simulated === true });
      for (const values of cells) {
        const cell = playCell(values);
        const text = textOfKey(cell);
        if (cell.events <= (most.get(place + text)?.cell.events ?? 0)) continue;
        most.set(place + text, { place, text, cell });
        if (source === rebuilt) added.add(place);
      }
    }
  }
  const counter = new PlayCounter();
  for (const { place, text, cell } of most.values()) counter.add(place, text, cell);
  const sorted: string[] = [];
  for await (const line of mergedPlays([], counter)) sorted.push(line);
  return { sorted, added: added.size };
}
