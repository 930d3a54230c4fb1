import { dayMs } from '../../domain/clock.ts';
import { eventId, eventPosition } from '../../domain/events/event-id.ts';
import type { Notice, NoticeLogEnds, OutboxNotice } from '../../domain/notices/rows.ts';
import { jsonBytes, PageItems } from '../../domain/page-items.ts';
import type { Slice } from '../../store/queries.ts';
import type { Reader, Store } from '../../store/store.ts';

/** Number of notices that are read together. */
const bucketSize = 256;
/** Number of notices that one transaction moves from the outbox to the log, or deletes. */
const batchSize = bucketSize;
/** Number of buckets that a page reads at most until it finds a notice. */
const maxBuckets = 64;

const bucketOf = (seq: number) => String(Math.floor(seq / bucketSize));
const rowIdOf = (seq: number) => `${bucketOf(seq)}/${seq}`;
const logId = 'log';
const emptyLog: NoticeLogEnds = { id: logId, firstSeq: 0, nextSeq: 0, at: 0 };

/** Returns the id of a notice, which sorts in the order of the log. */
export function noticeId({ at, seq }: Pick<Notice, 'at' | 'seq'>): string {
  return eventId({ receivedAtMs: at, batch: seq, index: 0 });
}

export interface NoticePageQuery {
  order: 'asc' | 'desc';
  /** Id of the last notice of the previous page. */
  after?: string | undefined;
  /** In epoch milliseconds, inclusive and exclusive. */
  from?: number | undefined;
  to?: number | undefined;
  limit: number;
  /** Default: all notices match. */
  matches?: ((notice: Notice) => boolean) | undefined;
}

/** Access to the log of notices. */
export interface NoticeLog {
  get(id: string): Promise<Notice | undefined>;
  /**
   * Returns one page of matching notices. A page before the last one may be empty. `read` is the id
   * of the last notice that was read for it.
   */
  page(query: NoticePageQuery): Promise<Slice<Notice> & { read: string | undefined }>;
  /** Calls `wake` after the log has grown. Spurious calls are possible. */
  watch(wake: () => void): () => void;
  /** Moves the notices in the outbox to the log. */
  collect(): Promise<void>;
  /** Deletes notices of before `timeMs`, in whole days. Calls `record` before, if there are any. */
  purgeBefore(timeMs: number, record?: () => Promise<void>): Promise<void>;
}

/**
 * The log of notices, in the order in which their ids become visible. Ids are positions in the log.
 * They are given in the transaction that moves a notice from the outbox, so a later id is never
 * visible before an earlier one, even if several instances move notices.
 *
 * @param onAppended called for each notice that this instance has appended
 */
export function makeNoticeLog(
  store: Store,
  onAppended: (notice: OutboxNotice) => void = () => {},
): NoticeLog {
  const { read } = store;
  const endsOf = async (reader: Pick<Reader, 'get'>) =>
    (await reader.get('noticeLogs', logId)) ?? emptyLog;

  /** Returns the first position of the log whose id is not less than `id`. */
  async function positionOf(id: string, { firstSeq, nextSeq }: NoticeLogEnds): Promise<number> {
    let low = firstSeq;
    let high = nextSeq;
    // Ids of clients are mostly ids of the log.
    const exact = eventPosition(id)?.batch ?? low;
    for (let middle = exact; low < high; middle = Math.floor((low + high) / 2)) {
      if (middle < low || middle >= high) continue;
      const row = await read.get('notices', rowIdOf(middle));
      const found = row ? noticeId(row) : '';
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const positionAt = (timeMs: number, ends: NoticeLogEnds) =>
    positionOf(noticeId({ at: Math.min(Math.max(timeMs, 0), 2 ** 48 - 1), seq: 0 }), ends);

  /** Returns the notices of the bucket of `seq` in the range `first` to `end`, in order. */
  async function readBucket(seq: number, first: number, end: number): Promise<Notice[]> {
    const rows = await read.select('notices', 'bucket', [bucketOf(seq)]);
    return rows
      .filter((row) => row.seq >= first && row.seq < end)
      .sort((one, other) => one.seq - other.seq);
  }

  async function range(query: NoticePageQuery): Promise<{ first: number; end: number }> {
    const ends = await endsOf(read);
    const { order, after, from, to } = query;
    let first = from === undefined ? ends.firstSeq : await positionAt(from, ends);
    let end = to === undefined ? ends.nextSeq : await positionAt(to, ends);
    if (after !== undefined) {
      const position = await positionOf(after, ends);
      const row = order === 'asc' ? await read.get('notices', rowIdOf(position)) : undefined;
      const isIt = row !== undefined && noticeId(row) === after;
      if (order === 'asc') first = Math.max(first, isIt ? position + 1 : position);
      else end = Math.min(end, position);
    }
    return { first, end };
  }

  async function page(query: NoticePageQuery) {
    const { order, limit, matches = () => true } = query;
    let { first, end } = await range(query);
    const found = new PageItems<Notice>(limit);
    let last: string | undefined;
    for (let buckets = 0; first < end && buckets < maxBuckets; buckets++) {
      const rows = await readBucket(order === 'asc' ? first : end - 1, first, end);
      if (order === 'desc') rows.reverse();
      for (const row of rows) {
        if (matches(row) && !found.add(row, jsonBytes(row)))
          return { items: found.items, next: last ?? null, read: last };
        last = noticeId(row);
      }
      if (order === 'asc') first = (Math.floor(first / bucketSize) + 1) * bucketSize;
      else end = Math.floor((end - 1) / bucketSize) * bucketSize;
    }
    return { items: found.items, next: first < end ? (last ?? null) : null, read: last };
  }

  /** Appends waiting notices to the log, and gives them their ids. */
  async function append(waiting: readonly OutboxNotice[]): Promise<void> {
    const appended = await store.write(async (tx) => {
      const moved: OutboxNotice[] = [];
      // At once, so that a database gets few statements.
      const [found, log] = await Promise.all([
        Promise.all(waiting.map(({ id }) => tx.get('outbox', id))),
        endsOf(tx),
      ]);
      let { nextSeq, at, ...ends } = log;
      for (const notice of found) {
        // Another instance may have moved it.
        if (!notice) continue;
        const { id } = notice;
        at = Math.max(at, notice.at);
        const place = { id: rowIdOf(nextSeq), bucket: bucketOf(nextSeq), seq: nextSeq };
        await tx.put('notices', { ...notice, ...place, at });
        await tx.delete('outbox', id);
        moved.push(notice);
        nextSeq++;
      }
      await tx.put('noticeLogs', { ...ends, nextSeq, at });
      return moved;
    });
    for (const notice of appended) onAppended(notice);
  }

  async function collect(): Promise<void> {
    for (;;) {
      const { items } = await store.list('outbox', { limit: batchSize });
      if (items.length === 0) return;
      await append(items.toSorted((one, other) => one.at - other.at));
    }
  }

  async function purgeBefore(timeMs: number, record = async () => {}): Promise<void> {
    const ends = await endsOf(read);
    const end = await positionAt(Math.floor(timeMs / dayMs) * dayMs, ends);
    if (ends.firstSeq < end) await record();
    for (let seq = ends.firstSeq; seq < end; ) {
      const to = Math.min(seq + batchSize, end);
      await store.write(async (tx) => {
        for (let one = seq; one < to; one++) await tx.delete('notices', rowIdOf(one));
        await tx.put('noticeLogs', { ...(await endsOf(tx)), firstSeq: to });
      });
      seq = to;
    }
  }

  return {
    async get(id) {
      const seq = eventPosition(id)?.batch;
      const row = seq === undefined ? undefined : await read.get('notices', rowIdOf(seq));
      return row && noticeId(row) === id ? row : undefined;
    },
    page,
    watch: (wake) => store.watch('notices/log', wake),
    collect,
    purgeBefore,
  };
}
