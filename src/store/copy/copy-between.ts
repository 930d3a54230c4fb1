import { hash } from 'node:crypto';
import { SignageError } from '../../domain/error.ts';
import {
  type CopiedActivity,
  type CopiedBatch,
  type CopiedImpressions,
  type CopiedSequence,
  type Records,
  type Section,
  type StoreSource,
  type StoreTarget,
  sections,
} from './transfer.ts';

/** Receives progress: `done` of `all` records of a section. */
type CopyListener = (
  what: 'copying' | 'comparing',
  section: Section,
  done: number,
  all: number,
) => void;

/** Result of comparing one section of both stores. */
export interface ComparedSection {
  section: Section | 'server';
  source: number;
  target: number;
  sourceChecksum: string;
  targetChecksum: string;
  same: boolean;
}

/**
 * Maximum size of one durable step, in records and in bytes. A step is held in memory. Larger steps
 * gain little speed.
 */
const stepRecords = 2000;
const stepBytes = 4 * 1024 * 1024;

export interface CopyBetweenOptions {
  onProgress?: CopyListener;
  /** Stops the copy with the error `interrupted`. The next attempt resumes it. */
  signal?: AbortSignal | undefined;
  /** Records per durable step. Default: 2000. */
  stepSize?: number;
}

/**
 * Copies everything, resuming an earlier attempt, then compares both stores. A service may start on
 * the target only if both stores are equal.
 */
export async function copyBetween(
  source: StoreSource,
  target: StoreTarget,
  options: CopyBetweenOptions = {},
): Promise<ComparedSection[]> {
  const { onProgress, signal, stepSize = stepRecords } = options;
  const report: CopyListener = (...progress) => {
    if (signal?.aborted)
      throw new SignageError(
        'interrupted',
        'The copy was interrupted. Run the same command again to resume it.',
      );
    onProgress?.(...progress);
  };
  const counts = await countsOf(source);
  for (const section of sections) {
    if (!target.progress().complete.includes(section))
      await copySection(section, source, target, stepSize, (done) =>
        report('copying', section, done, counts[section]),
      );
  }
  await target.finish();
  const copied = await target.copied();
  try {
    const compared = [comparedServers(source, copied)];
    for (const section of sections) {
      compared.push(
        await compare(section, source, copied, (done) =>
          report('comparing', section, done, 2 * counts[section]),
        ),
      );
    }
    if (compared.every(({ same }) => same)) await target.release();
    return compared;
  } finally {
    await copied.close();
  }
}

export async function countsOf(source: StoreSource): Promise<Record<Section, number>> {
  const counts: Partial<Record<Section, number>> = {};
  for (const section of sections) counts[section] = await source.count(section);
  return counts as Record<Section, number>;
}

async function copySection<S extends Section>(
  section: S,
  source: StoreSource,
  target: StoreTarget,
  stepSize: number,
  report: (done: number) => void,
) {
  let done = target.progress().done[section] ?? 0;
  report(done);
  for await (const records of steps<S>(source.read(section, done), stepSize)) {
    await target.accept(section, records);
    done += records.length;
    report(done);
  }
  await target.complete(section);
}

/** Regroups the records of pages into steps. */
async function* steps<S extends Section>(
  pages: AsyncIterable<readonly Records[S][]>,
  size: number,
): AsyncGenerator<readonly Records[S][]> {
  let step: Records[S][] = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const record of page) {
      step.push(record);
      bytes += largePart(record);
      if (step.length < size && bytes < stepBytes) continue;
      yield step;
      step = [];
      bytes = 0;
    }
  }
  if (step.length > 0) yield step;
}

/**
 * Returns the length of a record's large member: the events of a batch, or the items of a playlist.
 */
function largePart(record: object): number {
  const { body, items } = record as { body?: unknown; items?: unknown };
  const text = body ?? items;
  return typeof text === 'string' ? text.length : 0;
}

/**
 * By section: the function that returns the text to hash for a record. Sections without a function
 * use `rowText`. It puts the id first, as the embedded store does. Other members keep their order,
 * since clients may receive them as stored.
 */
const textOf: { [S in Section]?: (record: Records[S], position: number) => string } = {
  batches: (batch: CopiedBatch) => {
    const { seq, receivedAt, tenantId, venueId, screenId, deviceId, simulated } = batch;
    const { offsetMs, body } = batch;
    return `${seq} ${receivedAt} ${tenantId} ${venueId} ${screenId} ${deviceId} ${simulated === true} ${offsetMs} ${body}`;
  },
  // Only the position determines the order of entries, so it is hashed, too.
  audit: (entry, position) => `${position} ${JSON.stringify(entry)}`,
  idempotency: ({ deviceId, keys }) => `${deviceId} ${keys.join(' ')}`,
  impressions: ({ scope, clock, group, day, key, impressions, seconds }: CopiedImpressions) =>
    JSON.stringify([scope, clock, group, day, key, impressions, seconds]),
  sequences: ({ deviceId, state: { floor, missing, conflicts, ranges } }: CopiedSequence) =>
    JSON.stringify([deviceId, floor, missing, conflicts, ranges]),
  marks: ({ kind, id, marks }: CopiedActivity) =>
    `${kind} ${id} ${JSON.stringify(Object.entries(marks).sort())}`,
};

function rowText({ id, ...rest }: { id: string }): string {
  return JSON.stringify({ id, ...rest });
}

/**
 * Counts the records of a section and adds up their hashes. Stores may return records in different
 * orders, which does not change the sum.
 */
class SectionChecksum<S extends Section> {
  count = 0;
  #sum = 0n;
  readonly #textOf: (record: Records[S], position: number) => string;

  constructor(section: S) {
    this.#textOf = (textOf[section] ?? rowText) as (record: Records[S], position: number) => string;
  }

  add(record: Records[S]): void {
    const text = this.#textOf(record, this.count);
    this.count++;
    this.#sum = BigInt.asUintN(128, this.#sum + BigInt(`0x${hash('sha256', text).slice(0, 32)}`));
  }

  /** The sum, in hex. */
  get checksum(): string {
    return this.#sum.toString(16).padStart(32, '0');
  }
}

async function compare<S extends Section>(
  section: S,
  source: StoreSource,
  copied: StoreSource,
  report: (done: number) => void,
): Promise<ComparedSection> {
  const checksums = [new SectionChecksum(section), new SectionChecksum(section)] as const;
  let done = 0;
  for (const [store, checksum] of [
    [source, checksums[0]],
    [copied, checksums[1]],
  ] as const) {
    for await (const records of store.read(section, 0)) {
      for (const record of records) checksum.add(record);
      done += records.length;
      report(done);
    }
  }
  return comparedTotals(section, checksums[0], checksums[1]);
}

type SectionTotal = { count: number; checksum: string };

function comparedTotals(
  section: ComparedSection['section'],
  source: SectionTotal,
  target: SectionTotal,
): ComparedSection {
  const same = source.count === target.count && source.checksum === target.checksum;
  const checksums = { sourceChecksum: source.checksum, targetChecksum: target.checksum };
  return { section, source: source.count, target: target.count, ...checksums, same };
}

/** Compares the secrets and the ends of the logs, by hash. */
function comparedServers(source: StoreSource, copied: StoreSource): ComparedSection {
  const totalOf = ({ secret, logEnd: { seq, receivedAt } }: StoreSource): SectionTotal => {
    const text = `${Buffer.from(secret).toString('hex')} ${seq} ${receivedAt}`;
    return { count: 1, checksum: hash('sha256', text).slice(0, 32) };
  };
  return comparedTotals('server', totalOf(source), totalOf(copied));
}
