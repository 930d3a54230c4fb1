import { hash } from 'node:crypto';
import { SignageError } from '../../domain/error.ts';
import { SectionSum } from './section-sum.ts';
import {
  type Records,
  type Section,
  type StoreSource,
  type StoreTarget,
  sections,
} from './transfer.ts';

/** Told what is done, of how many records of which section. */
type CopyListener = (
  what: 'copying' | 'comparing',
  section: Section,
  done: number,
  all: number,
) => void;

/** One section of both stores. */
export interface ComparedSection {
  section: Section | 'server';
  source: number;
  target: number;
  sourceChecksum: string;
  targetChecksum: string;
  same: boolean;
}

/** What goes into one durable step: more gains little, and a step must fit into memory. */
const stepRecords = 2000;
const stepBytes = 4 * 1024 * 1024;

export interface CopyManner {
  onProgress?: CopyListener;
  /** Ends it as `interrupted`; the next attempt goes on there. */
  signal?: AbortSignal | undefined;
  /** How many records make a step, which is there for good. */
  stepSize?: number;
}

/** Copies everything, going on where an earlier attempt broke off, and compares the two. Only when they are the same may a service start on the target. */
export async function copyBetween(
  source: StoreSource,
  target: StoreTarget,
  manner: CopyManner = {},
): Promise<ComparedSection[]> {
  const { onProgress, signal, stepSize = stepRecords } = manner;
  const tell: CopyListener = (...told) => {
    if (signal?.aborted)
      throw new SignageError(
        'interrupted',
        'The copy was interrupted: the same command goes on with it.',
      );
    onProgress?.(...told);
  };
  const counts = await countsOf(source);
  for (const section of sections) {
    if (!target.isComplete(section))
      await copySection(section, source, target, stepSize, (done) =>
        tell('copying', section, done, counts[section]),
      );
  }
  await target.finish();
  const copied = await target.copied();
  try {
    const compared = [comparedServers(source, copied)];
    for (const section of sections) {
      compared.push(
        await compare(section, source, copied, (done) =>
          tell('comparing', section, done, 2 * counts[section]),
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
  tell: (done: number) => void,
) {
  let done = target.done(section);
  tell(done);
  for await (const records of steps<S>(source.read(section, done), stepSize)) {
    await target.accept(section, records);
    done += records.length;
    tell(done);
  }
  await target.complete(section);
}

/** Pages put together until they are worth a step. */
async function* steps<S extends Section>(
  pages: AsyncIterable<readonly Records[S][]>,
  size: number,
): AsyncGenerator<readonly Records[S][]> {
  let [step, bytes]: [Records[S][], number] = [[], 0];
  for await (const page of pages) {
    for (const record of page) {
      step.push(record);
      bytes += largePart(record);
      if (step.length < size && bytes < stepBytes) continue;
      yield step;
      [step, bytes] = [[], 0];
    }
  }
  if (step.length > 0) yield step;
}

/** The length of what may be long in a record: a batch's events, a playlist's items. */
function largePart(record: object): number {
  const { body, items } = record as { body?: unknown; items?: unknown };
  const text = body ?? items;
  return typeof text === 'string' ? text.length : 0;
}

async function compare<S extends Section>(
  section: S,
  source: StoreSource,
  copied: StoreSource,
  tell: (done: number) => void,
): Promise<ComparedSection> {
  const sums = [new SectionSum(section), new SectionSum(section)] as const;
  let done = 0;
  for (const [store, sum] of [
    [source, sums[0]],
    [copied, sums[1]],
  ] as const) {
    for await (const records of store.read(section, 0)) {
      for (const record of records) sum.add(record);
      done += records.length;
      tell(done);
    }
  }
  return comparedSums(section, sums[0], sums[1]);
}

type Sum = { count: number; checksum: string };

function comparedSums(
  section: ComparedSection['section'],
  source: Sum,
  target: Sum,
): ComparedSection {
  const same = source.count === target.count && source.checksum === target.checksum;
  const checksums = { sourceChecksum: source.checksum, targetChecksum: target.checksum };
  return { section, source: source.count, target: target.count, ...checksums, same };
}

/** The secret, by its hash, and where the log ends. */
function comparedServers(source: StoreSource, copied: StoreSource): ComparedSection {
  const sumOf = ({ secret, logEnd: { seq, receivedAt } }: StoreSource): Sum => {
    const text = `${Buffer.from(secret).toString('hex')} ${seq} ${receivedAt}`;
    return { count: 1, checksum: hash('sha256', text).slice(0, 32) };
  };
  return comparedSums('server', sumOf(source), sumOf(copied));
}
