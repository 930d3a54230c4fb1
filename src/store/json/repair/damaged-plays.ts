import { textOfKey } from '../../../domain/events/plays.ts';
import { playCell, type Records } from '../../dump/records.ts';
import { placeText } from '../../plays.ts';
import type { Lines } from '../rollups/day-documents.ts';
import { mergedPlays, PlayCounter, playRecords } from '../rollups/play-lines.ts';

const eventsOf = (record: Records['plays'] | undefined) =>
  record?.cells.reduce((sum, [, , , events]) => sum + events, 0) ?? -1;

/**
 * Returns the lines of a damaged document of plays, and those rebuilt from the events. A place
 * whose keys were damaged lacks cells, so that the rebuilt one may have more.
 */
export async function mergedPlayLines(
  name: string,
  lines: readonly string[],
  rebuilt: Lines,
): Promise<{ sorted: string[]; added: number }> {
  const clock = name.startsWith('plays-received-') ? 'received' : 'timestamp';
  const places = new Map<string, Records['plays']>();
  let added = 0;
  for (const source of [lines, rebuilt]) {
    for await (const record of playRecords(source, clock)) {
      const place = placeText({ ...record, simulated: record.simulated === true });
      if (eventsOf(record) <= eventsOf(places.get(place))) continue;
      places.set(place, record);
      if (source !== lines) added++;
    }
  }
  const counter = new PlayCounter();
  for (const [place, { cells }] of places) {
    for (const values of cells) {
      const cell = playCell(values);
      counter.add(place, textOfKey(cell), cell);
    }
  }
  const sorted: string[] = [];
  for await (const line of mergedPlays([], counter)) sorted.push(line);
  return { sorted, added };
}
