import { randomBytes } from 'node:crypto';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import { batchSums } from '../../../src/domain/events/batch-counts.ts';
import { summaryOf } from '../../../src/domain/events/sequence.ts';
import type { DumpSource } from '../../../src/store/dump/dump.ts';
import { restoreDump } from '../../../src/store/dump/restore-dump.ts';
import { writeDump } from '../../../src/store/dump/write-dump.ts';
import { readFolder } from '../../../src/store/json/dump/folder-state.ts';
import { FolderTarget } from '../../../src/store/json/dump/folder-target.ts';
import { idempotencyDocument } from '../../../src/store/json/events/idempotency-keys.ts';
import { sequenceDocument } from '../../../src/store/json/events/sequences.ts';
import { readDamagedFolder } from '../../../src/store/json/repair/damaged-folder.ts';
import { type FolderFinding, FolderFindings } from '../../../src/store/json/repair/finding.ts';
import { playDocument } from '../../../src/store/json/rollups/play-documents.ts';
import { rollupDocument } from '../../../src/store/json/rollups/rollups.ts';
import type { Store } from '../../../src/store/store.ts';
import { CrashDisk } from '../../store/json/crash-disk.ts';
import { flipped, linesOf, swapped } from '../../store/json/damages.ts';
import { openOn, passTime } from '../../store/json/full-store.ts';
import { contextOn } from '../../store/json/part-rig.ts';
import { batchOf, guid, impression } from '../../store/sample-batch.ts';
import { deviceRow } from '../../store/sample-rows.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { diskOf, type Files } from '../crashes/recorded-disk.ts';
import { FuzzRandom } from '../fuzz/random.ts';

export interface CountsReport {
  folders: number;
  /** Folders whose counts are all as they were. */
  exact: number;
  /** Folders that lack counts, whose report says so. */
  reported: number;
  bad: string[];
}

interface Subject {
  files: Files;
  /** Earlier versions of the documents, by name. */
  older: ReadonlyMap<string, Buffer[]>;
  isStopped: boolean;
  nowMs: number;
}

const devices = [1, 2, 3];
const days = 4;

/** Plays of today and, sent late, of yesterday. The last device counts as 0.1.0 did. */
async function addPlays(store: Store, clock: ManualClock, turn: number): Promise<void> {
  for (const number of devices) {
    const times = [clock.now(), clock.now() - minuteMs, clock.now() - dayMs];
    const events = times.map((at, n) =>
      impression(at, {
        creativeId: guid('crea', (number + n) % times.length),
        seq: times.length * turn + n + 1,
        durationSeconds: 10,
      }),
    );
    const isLocated = number < devices.length;
    const batch = batchOf(events, {
      deviceId: guid('devi', number),
      screenId: guid('scre', number),
      key: `key ${number} ${turn}`,
      ...(isLocated && { sums: batchSums(events, [3600]) }),
    });
    await store.appendBatch(batch);
  }
}

/** The files of a store with plays of some days, with or without the events of the first days. */
async function subjectOf(isPurged: boolean, isStopped: boolean): Promise<Subject> {
  const disk = new CrashDisk();
  const clock = new ManualClock();
  const older = new Map<string, Buffer[]>();
  const store = await openOn(disk, clock);
  await store.write(async (tx) => {
    for (const number of devices) await tx.put('devices', deviceRow(number));
  });
  for (let turn = 0; turn < 2 * days; turn++) {
    await addPlays(store, clock, turn);
    if (turn === 2 * days - 1) break;
    await passTime(clock, turn % 2 === 0 ? 2 * minuteMs : dayMs);
    for (const [path, bytes] of disk.files()) {
      const name = nameOf(path);
      older.set(name, [...(older.get(name) ?? []), bytes]);
    }
  }
  if (isPurged) await store.purgeBefore(clock.now() - dayMs);
  const crashed = disk.afterKill().files();
  await store.close();
  return { files: isStopped ? disk.files() : crashed, older, isStopped, nowMs: clock.now() };
}

const nameOf = (path: string) => path.replace(/\.\d+\.json$/, '');

const manifests = ['/data/manifest.json', '/data/manifest.copy.json'];
const waysOfDamage = [
  'first line',
  'bit',
  'cut',
  'cut lines',
  'emptied',
  'gone',
  'older',
  'swapped',
];

/** Damages documents that are made of events, after the loss of the manifests in most folders. */
function damaged({ files, older, isStopped }: Subject, random: FuzzRandom) {
  const left = new Map(files);
  const what: string[] = [];
  for (const path of random.happens(0.7) ? manifests : []) left.delete(path);
  what.push(left.has('/data/manifest.json') ? 'manifests there' : 'both manifests gone');
  const all = [...files.keys()].filter((path) =>
    /documents\/(rollups|plays|rings|sequences)/.test(path),
  );
  // Without the end of the log, a crashed store is as after an earlier crash.
  const logs = [...files.keys()]
    .filter((path) => path.includes('/events/'))
    .sort()
    .slice(0, isStopped ? undefined : -1);
  for (let count = random.whole(1, 4); count > 0; count--) {
    const path = random.one(random.happens(0.15) ? logs : all);
    const before = files.get(path) as Buffer;
    const lines = linesOf(before);
    const how = random.one(waysOfDamage);
    const at = random.whole(0, (how === 'first line' ? (lines[0] as Buffer) : before).length - 1);
    const line = random.whole(0, lines.length - 2);
    const after = {
      'first line': flipped(before, at),
      bit: flipped(before, at),
      cut: before.subarray(0, at),
      'cut lines': Buffer.concat(lines.slice(0, line + 1)),
      emptied: Buffer.alloc(0),
      gone: undefined,
      older: random.one(older.get(nameOf(path)) ?? [before]),
      swapped: swapped(lines, line).bytes,
    }[how];
    if (after) left.set(path, after);
    else left.delete(path);
    what.push(`${how} ${path} ${how.startsWith('cut l') || how === 'swapped' ? line : at}`);
  }
  return { files: left, what: what.join(', ') };
}

/** The figures of reports, by their documents. */
type Counts = Map<string, Map<string, readonly number[]>>;

async function countsOf(source: DumpSource): Promise<Counts> {
  const counts: Counts = new Map();
  const add = (document: string, key: unknown[], numbers: readonly number[]) => {
    const figures = counts.get(document) ?? new Map<string, readonly number[]>();
    counts.set(document, figures.set(key.join(' '), numbers));
  };
  for await (const { cells, ...place } of source.read('plays')) {
    for (const [creative, campaign, entry, ...numbers] of cells) {
      const key = [place.screenId, place.day, place.shift, creative, campaign, entry];
      add(playDocument(place.clock, place.day), key, numbers);
    }
  }
  for await (const one of source.read('impressions')) {
    const { clock, day, group, scope, key, impressions, seconds } = one;
    add(rollupDocument(clock, day), [group, scope, key], [impressions, seconds]);
  }
  for await (const { deviceId, ...state } of source.read('sequences')) {
    const { lastSeq, missingEvents, conflictingEvents } = summaryOf(state);
    add(sequenceDocument(deviceId), [deviceId], [lastSeq - missingEvents, conflictingEvents]);
  }
  for await (const { deviceId, keys } of source.read('idempotency'))
    for (const [key] of keys) add(idempotencyDocument(deviceId), [deviceId, key], [1]);
  return counts;
}

const isMore = (one: readonly number[], other: readonly number[] = []) =>
  one.some((number, at) => number > (other[at] ?? 0));

function compare(
  before: Counts,
  after: Counts,
  findings: readonly FolderFinding[],
  isStopped: boolean,
) {
  const bad: string[] = [];
  let isLess = false;
  for (const [document, figures] of after) {
    for (const [key, numbers] of figures) {
      const was = before.get(document)?.get(key);
      if (isMore(numbers, was)) bad.push(`${document}: ${numbers} of ${key}, and was ${was}`);
    }
  }
  const losses = findings.filter(({ lost }) => lost !== 0);
  for (const [document, figures] of before) {
    const less = [...figures].filter(([key, was]) => isMore(was, after.get(document)?.get(key)));
    if (less.length === 0) continue;
    isLess = true;
    const isNamed = findings.some(({ file }) => file.includes(`/${document}.`));
    // After a crash, the lost batches may be newer than the document.
    const isReported = losses.some(
      ({ file, section }) =>
        (section === 'batches' && !isStopped) || file.includes(isNamed ? `/${document}.` : ''),
    );
    if (!isReported) bad.push(`${document}: less than ${less[0]}, and nothing is reported`);
  }
  return { bad, isLess };
}

async function judge(files: Files, { nowMs, isStopped }: Subject, before: Counts) {
  const clock = new ManualClock(nowMs);
  const disk = diskOf(files);
  const findings = new FolderFindings();
  const { source } = await readDamagedFolder(contextOn(disk, clock), findings, {
    random: randomBytes,
  });
  const into = contextOn(disk, clock, '/new');
  const dump = writeDump(source, new Date(nowMs).toISOString());
  await restoreDump(dump, new FolderTarget(into, async () => {}));
  const after = await countsOf(await readFolder(into));
  return compare(before, after, findings.all, isStopped);
}

/**
 * Repairs folders whose documents of counts are damaged. No count may grow. If one is smaller, the
 * report must say so of its document or of batches.
 */
export async function repairedCounts(folders: number, seed = 'counts'): Promise<CountsReport> {
  const report: CountsReport = { folders: 0, exact: 0, reported: 0, bad: [] };
  for (const [isPurged, isStopped] of [
    [false, true],
    [false, false],
    [true, true],
    [true, false],
  ] as const) {
    const subject = await subjectOf(isPurged, isStopped);
    const clock = new ManualClock(subject.nowMs);
    const before = await countsOf(await readFolder(contextOn(diskOf(subject.files), clock)));
    for (let number = 0; number < folders / 4; number++) {
      const random = new FuzzRandom(`${seed} ${isPurged} ${isStopped} ${number}`);
      const { files, what } = damaged(subject, random);
      const { bad, isLess } = await judge(files, subject, before).catch((error: Error) => ({
        bad: [`${error.stack}`],
        isLess: false,
      }));
      report.folders++;
      if (isLess) report.reported++;
      else if (bad.length === 0) report.exact++;
      const about = `${isPurged ? 'purged' : 'whole'}, ${isStopped ? 'stopped' : 'crashed'}, ${what}`;
      if (bad.length > 0) report.bad.push(`${about}: ${bad.length} ${bad[0]}`);
    }
  }
  return report;
}
