import { SignageError } from '../../../domain/error.ts';
import type { ReportClock, ReportGroup } from '../../../domain/records/report.ts';
import type { Playlist } from '../../../domain/records/rows.ts';
import { paged } from '../../copy/paged.ts';
import {
  type CopiedActivity,
  type CopiedImpressions,
  type CopiedSequence,
  type DeviceKeys,
  maxSeconds,
  type Records,
  type Section,
  type StoreSource,
} from '../../copy/transfer.ts';
import { contextOf, lockDataFolder, refuseUnfinished } from '../../maintenance/data-folder.ts';
import { type Rows, type TableName, tableNames } from '../../sections.ts';
import { keyEntries } from '../events/idempotency-keys.ts';
import type { PartContext } from '../parts.ts';
import { auditOf, batchesOf, countBatches } from './folder-logs.ts';
import { documentLines, type FolderState, readFolderState } from './folder-state.ts';

/**
 * Opens a data folder as the source of a copy. It stays locked until `close`. Throws
 * `store_locked`, `store_unusable`, `store_damaged`, `store_other_format`, `copy_unfinished` and
 * `restore_unfinished`.
 */
export async function openFolderSource(directory: string): Promise<StoreSource> {
  const context = contextOf(directory);
  if ((await context.disk.list(directory)).length === 0)
    throw new SignageError('store_unusable', `${directory} holds no data. Choose a data folder.`);
  const release = await lockDataFolder(directory);
  try {
    await refuseUnfinished(context.disk, directory);
    return await folderSource(context, release);
  } catch (error) {
    await release();
    throw error;
  }
}

/** Returns a source that reads a folder to which nothing writes. */
export async function folderSource(
  context: PartContext,
  close: () => Promise<void>,
): Promise<StoreSource> {
  const state = await readFolderState(context);
  const { manifest, parts, secret } = state;
  const { seq, receivedAt } = parts.events.log.end;
  return {
    secret,
    // Differs after each start, each change and each batch.
    state: `${manifest.epoch}/${parts.journal.log.end.seq}/${seq}`,
    logEnd: { seq, receivedAt },
    chain: parts.chain.state,
    async count(section) {
      if (section === 'batches') return countBatches(state);
      let found = 0;
      for await (const _ of readers[section](state, 0)) found++;
      return found;
    },
    read: <S extends Section>(section: S, skip: number) =>
      paged(readers[section](state, skip) as AsyncGenerator<Records[S]>),
    close,
  };
}

type Reader<R> = (state: FolderState, skip: number) => AsyncGenerator<R>;

/** Creates a reader that skips by reading from the start. */
function fromFirst<R>(all: (state: FolderState) => AsyncGenerator<R>): Reader<R> {
  return async function* (state, skip) {
    let position = 0;
    for await (const record of all(state)) if (position++ >= skip) yield record;
  };
}

function rowsOf<T extends TableName>(table: T): Reader<Rows[T]> {
  return async function* ({ parts: { state } }, skip) {
    for (const id of [...state.base.all(table)].sort().slice(skip))
      yield state.base.row(table, id) as Rows[T];
  };
}

const readers = {
  ...Object.fromEntries(tableNames.map((table) => [table, rowsOf(table)])),
  pastPlaylists: fromFirst(pastPlaylists),
  batches: batchesOf,
  audit: fromFirst(auditOf),
  idempotency: fromFirst(deviceKeys),
  impressions: fromFirst(impressions),
  sequences: fromFirst(sequences),
  marks: fromFirst(marks),
} as { [S in Section]: Reader<Records[S]> };

async function* pastPlaylists(state: FolderState): AsyncGenerator<Playlist> {
  for await (const line of documentLines(state, 'past')) yield JSON.parse(line) as Playlist;
}

async function* deviceKeys(state: FolderState): AsyncGenerator<DeviceKeys> {
  for await (const line of documentLines(state, 'rings')) {
    const [deviceId, encodedKeys] = JSON.parse(line) as [string, string];
    const keys = keyEntries(encodedKeys).map((entry): [key: string, sent: string] => [
      entry.slice(0, entry.length / 2),
      entry.slice(entry.length / 2),
    ]);
    yield { deviceId, keys };
  }
}

/**
 * Yields the impressions by time of receipt, then those by timestamp. Parses lines
 * `["1-campaign","<scope>","<day>","<key>",<impressions>,<seconds>]`.
 */
async function* impressions(state: FolderState): AsyncGenerator<CopiedImpressions> {
  for (const clock of ['received', 'timestamp'] satisfies ReportClock[]) {
    for await (const line of documentLines(state, `rollups-${clock}`)) {
      const [section, scope, day, key, found, seconds] = JSON.parse(line) as [
        string,
        string,
        string,
        string,
        number,
        number,
      ];
      yield {
        scope,
        clock,
        group: section.slice(2) as ReportGroup,
        day,
        key,
        impressions: found,
        seconds: Math.min(seconds, maxSeconds),
      };
    }
  }
}

async function* sequences(state: FolderState): AsyncGenerator<CopiedSequence> {
  for await (const line of documentLines(state, 'sequences')) {
    const [deviceId, numbers] = JSON.parse(line) as [string, CopiedSequence['state']];
    yield { deviceId, state: numbers };
  }
}

async function* marks(state: FolderState): AsyncGenerator<CopiedActivity> {
  for await (const line of documentLines(state, 'marks')) {
    const { kind, id, ...activity } = JSON.parse(line) as Pick<CopiedActivity, 'kind' | 'id'> &
      CopiedActivity['marks'];
    if (Object.keys(activity).length > 0) yield { kind, id, marks: activity };
  }
}
