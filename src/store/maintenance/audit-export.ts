import { resolve } from 'node:path';
import type { AuditEntry } from '../../domain/records/audit.ts';
import type { SealedEntry } from '../audit/audit-chain.ts';
import { nodeFileSystem } from '../json/disk/file-system.ts';
import { entriesIn, type JournalRecord } from '../json/journal/segments.ts';
import { dayStart } from '../json/log/day-files.ts';
import { readFrames } from '../json/log/frame.ts';

/**
 * Yields the audit entries of a data folder after `timeMs`. Older entries come from the day files,
 * the newest from the journal. It skips damaged lines and changes nothing. Use it for a folder that
 * can no longer be opened as a store. It may yield an entry twice.
 *
 * @param folder a data folder, or a copy of its folder `audit`
 */
export async function* exportAuditAfter(
  folder: string,
  timeMs: number,
): AsyncGenerator<AuditEntry> {
  const directory = resolve(folder);
  for await (const entry of entriesOf(directory, timeMs)) if (entry.at > timeMs) yield entry;
}

async function* entriesOf(directory: string, timeMs: number): AsyncGenerator<AuditEntry> {
  const folders = [directory, `${directory}/audit`, `${directory}/journal`];
  for (const folder of folders) {
    for (const name of (await nodeFileSystem.list(folder)).sort()) {
      const isDay = /^\d{4}-\d{2}-\d{2}\.ndjson$/.test(name);
      // After a clock steps back, entries go to a later day's file, never to an earlier one.
      if (isDay && dayStart(name) >= startOfDay(timeMs))
        yield* fromLines<SealedEntry>(folder, name, (sealed) => [sealed]);
      if (/^\d{16}-\d{6}\.log$/.test(name))
        yield* fromLines<JournalRecord>(folder, name, entriesIn);
    }
  }
}

const startOfDay = (timeMs: number) => Date.parse(new Date(timeMs).toISOString().slice(0, 10));

async function* fromLines<R>(
  folder: string,
  name: string,
  sealedIn: (record: R) => SealedEntry[],
): AsyncGenerator<AuditEntry> {
  for await (const { line, whole } of readFrames(nodeFileSystem, `${folder}/${name}`)) {
    if (!whole) continue;
    for (const { entry } of sealedIn(JSON.parse(line.toString()) as R)) yield entry;
  }
}
