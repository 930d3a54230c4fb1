import { randomBytes } from 'node:crypto';
import type { DumpSource } from '../../../src/store/dump/dump.ts';
import { type SectionName, sectionNames } from '../../../src/store/dump/records.ts';
import { restoreDump } from '../../../src/store/dump/restore-dump.ts';
import { writeDump } from '../../../src/store/dump/write-dump.ts';
import { checkFolder } from '../../../src/store/json/check/check-folder.ts';
import { checksumLength } from '../../../src/store/json/checkpoint/document-line.ts';
import { readFolder } from '../../../src/store/json/dump/folder-state.ts';
import { FolderTarget } from '../../../src/store/json/dump/folder-target.ts';
import { readDamagedFolder } from '../../../src/store/json/repair/damaged-folder.ts';
import { type FolderFinding, FolderFindings } from '../../../src/store/json/repair/finding.ts';
import { fullFiles } from '../../store/json/full-store.ts';
import { contextOn } from '../../store/json/part-rig.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { diskOf, type Files } from '../crashes/recorded-disk.ts';
import { FuzzRandom } from '../fuzz/random.ts';

export interface RepairSearch {
  folders: number;
  seed?: string;
}

export interface RepairReport {
  folders: number;
  /** Folders of which nothing was lost. */
  whole: number;
  /** Records that were kept, and that were lost and reported, of all folders. */
  kept: number;
  lost: number;
  /** Folders that lack an unknown number of records, and whose report says so. */
  unknown: number;
  bad: string[];
}

/** The JSON of the records of each section, by their ids. */
type State = Map<SectionName, Map<string, string>>;

async function stateOf(source: DumpSource): Promise<State> {
  const state: State = new Map();
  for (const section of sectionNames()) {
    const records = new Map<string, string>();
    for await (const record of source.read(section))
      records.set(idOf(section, record as never), JSON.stringify(record));
    state.set(section, records);
  }
  return state;
}

function idOf(section: SectionName, record: Record<string, unknown>): string {
  const { clock, day, group, scope, key, kind, id, deviceId, seq, entry, screenId, shift } = record;
  if (section === 'impressions') return [clock, day, group, scope, key].join(' ');
  if (section === 'plays') return [clock, day, screenId, shift].join(' ');
  if (section === 'audit') return (entry as { id: string }).id;
  return String(
    section === 'batches' ? seq : section === 'marks' ? `${kind}/${id}` : (id ?? deviceId),
  );
}

/** Turns bits over, cuts files off and deletes files. */
function damaged(
  files: Files,
  random: FuzzRandom,
): { files: Files; what: string[]; isAsBefore: boolean } {
  const left = new Map(files);
  const what: string[] = [];
  if (random.happens(0.15)) {
    for (const name of ['manifest.json', 'manifest.copy.json']) left.delete(`/data/${name}`);
    what.push('both manifests gone');
  }
  for (let count = random.whole(1, 3); count > 0; count--) {
    const path = random.one([...left.keys()].filter((one) => !/manifest|secret/.test(one)));
    const bytes = Buffer.from(left.get(path) as Buffer);
    const at = random.whole(0, bytes.length - 1);
    const how = random.one(['gone', 'cut', 'bit', 'bit']);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.whole(0, 7));
    if (how === 'gone') left.delete(path);
    else left.set(path, how === 'cut' ? bytes.subarray(0, at) : bytes);
    what.push(`${how} ${path} ${at}`);
  }
  // Without the end of a log, a crashed store is as after an earlier crash.
  const ends = ['journal', 'events', 'audit'].flatMap((folder) => {
    const all = [...files.keys()].filter((path) => path.includes(`/${folder}/`)).sort();
    return [all[0], all.at(-1)];
  });
  const isAsBefore = ends.some((path) =>
    what.some((one) => one.startsWith(`gone ${path}`) || one.startsWith(`cut ${path}`)),
  );
  return { files: left, what, isAsBefore };
}

/** Groups of sections, and the findings that report their losses. */
const groups: readonly [
  string,
  (section: SectionName) => boolean,
  (one: FolderFinding) => boolean,
][] = [
  ['batches', (section) => section === 'batches', ({ section }) => section === 'batches'],
  [
    'audit',
    (section) => section === 'audit',
    ({ section }) => section === 'audit' || section === 'changes',
  ],
  ['marks', (section) => section === 'marks', ({ file }) => /documents\/marks/.test(file)],
  [
    'made of events',
    (section) => ['idempotency', 'impressions', 'plays', 'sequences'].includes(section),
    ({ file, section }) =>
      /documents\/(rings|rollups|plays|sequences)/.test(file) || section === 'batches',
  ],
  [
    'rows',
    (section) =>
      ![
        'server',
        'batches',
        'audit',
        'marks',
        'idempotency',
        'impressions',
        'plays',
        'sequences',
      ].includes(section),
    ({ file, section }) => /documents\/(rows|disk)/.test(file) || section === 'changes',
  ],
];

/** Yields the records in undamaged lines: those that the damaged folder shares with the whole. */
function* wholeRecords(before: Files, after: Files): Generator<[SectionName, string]> {
  for (const [path, bytes] of after) {
    const lines = new Set(before.get(path)?.toString('latin1').split('\n'));
    for (const line of bytes.toString('latin1').split('\n')) {
      if (line === '' || !lines.has(line)) continue;
      if (path.includes('/events/')) yield ['batches', String(JSON.parse(line).seq)];
      else if (path.includes('/audit/')) yield ['audit', JSON.parse(line).entry.id];
      else if (path.includes('/journal/')) {
        for (const [op, table, row] of JSON.parse(line).ops) {
          if (op === 'put') yield [table, row.id];
          if (op === 'audit') yield ['audit', table.id];
        }
      } else if (line[checksumLength] === '[') {
        const [first, second] = JSON.parse(line.slice(checksumLength));
        if (/documents\/(rows|disk)/.test(path)) yield [first, second.id];
        else if (path.includes('/rings')) yield ['idempotency', first];
        else if (path.includes('/sequences')) yield ['sequences', first];
      }
    }
  }
}

class RepairJudge {
  readonly #files: Files;
  readonly #before: State;
  readonly #nowMs: number;
  readonly #isClean: boolean;

  constructor(files: Files, before: State, nowMs: number, isClean: boolean) {
    this.#files = files;
    this.#before = before;
    this.#nowMs = nowMs;
    this.#isClean = isClean;
  }

  async judge(files: Files, isCountable: boolean, report: RepairReport): Promise<string[]> {
    const clock = new ManualClock(this.#nowMs);
    const disk = diskOf(files);
    const log = new FolderFindings();
    const { source } = await readDamagedFolder(contextOn(disk, clock), log, {
      random: randomBytes,
    });
    const into = contextOn(disk, clock, '/new');
    const at = new Date(this.#nowMs).toISOString();
    await restoreDump(writeDump(source, at), new FolderTarget(into, async () => {}));
    const bad = (await checkFolder(into))
      .filter(({ level }) => level === 'damage')
      .map(({ what }) => `the new folder is damaged: ${what}`);
    const after = await stateOf(await readFolder(into));
    // Without manifests, retention may have deleted the entries of a missing first day.
    const hasManifest = files.has('/data/manifest.json');
    for (const [section, id] of wholeRecords(this.#files, files))
      if ((hasManifest || section !== 'audit') && !this.#isHeld(after, section, id))
        bad.push(`a whole line is lost: ${section} ${id}`);
    bad.push(...this.#invented(after));
    for (const [name, isOf, reports] of groups) {
      const findings = log.all.filter(reports);
      const wrong = this.#counts(after, name, isOf, findings, report);
      if (isCountable && !log.all.some(({ lost }) => lost === null)) bad.push(...wrong);
    }
    const isUnknown = log.all.some(({ lost }) => lost === null);
    report.unknown += isUnknown ? 1 : 0;
    report.whole += !isUnknown && log.all.every(({ lost }) => lost === 0) ? 1 : 0;
    return bad;
  }

  #isHeld(after: State, section: SectionName, id: string): boolean {
    const json = after.get(section)?.get(id);
    if (json === undefined) return false;
    return section !== 'batches' || !json.includes('"tenantId":""');
  }

  /** Records that were never there. Counts may be smaller, and credentials may be revoked. */
  #invented(after: State): string[] {
    const bad: string[] = [];
    for (const [section, records] of after) {
      if (section === 'server') continue;
      for (const [id, json] of records) {
        if (section === 'batches' && json.includes('"tenantId":""')) continue;
        const was = this.#before.get(section)?.get(id);
        if (was === undefined) bad.push(`invented: ${section} ${json}`);
        else if (section === 'impressions') {
          const { impressions, seconds } = JSON.parse(json);
          const most = JSON.parse(was);
          if (impressions > most.impressions || seconds > most.seconds) bad.push(`more: ${json}`);
        } else if (section === 'deviceKeys' || section === 'tokens' || section === 'codes') {
          const keep = (text: string) => JSON.parse(text).hash;
          if (keep(json) !== keep(was)) bad.push(`changed: ${json}`);
        } else if (!['idempotency', 'sequences', 'marks'].includes(section) && json !== was)
          bad.push(`changed: ${section} ${json} was ${was}`);
      }
    }
    return bad;
  }

  #counts(
    after: State,
    name: string,
    isOf: (section: SectionName) => boolean,
    findings: readonly FolderFinding[],
    report: RepairReport,
  ): string[] {
    let missing = 0;
    for (const [section, records] of this.#before) {
      if (!isOf(section)) continue;
      for (const [id, was] of records) {
        const json = after.get(section)?.get(id);
        const isSame =
          !['idempotency', 'impressions', 'plays', 'sequences'].includes(section) || json === was;
        if (this.#isHeld(after, section, id) && isSame) report.kept++;
        else missing++;
      }
    }
    report.lost += missing;
    const said = findings.reduce((sum, { lost }) => sum + (lost ?? 0), 0);
    const isExact = this.#isClean && name !== 'made of events' && name !== 'marks';
    if (said === missing) return [];
    // A lost change or batch takes several records with it, and rebuilt lines may be right by
    // chance.
    if (!isExact && said > 0) return [];
    return [`${name}: ${missing} are lost, and ${said} are reported`];
  }
}

/** Repairs damaged folders. Every whole line must be kept, nothing invented, each loss reported. */
export async function repairEverywhere(search: RepairSearch): Promise<RepairReport> {
  const { folders, seed = 'repairs' } = search;
  const report: RepairReport = { folders: 0, whole: 0, kept: 0, lost: 0, unknown: 0, bad: [] };
  const { stopped, crashed, nowMs } = await fullFiles();
  for (const files of [stopped, crashed]) {
    const disk = diskOf(files);
    const before = await stateOf(await readFolder(contextOn(disk, new ManualClock(nowMs))));
    const judge = new RepairJudge(files, before, nowMs, files === stopped);
    for (let number = 0; number < folders / 2; number++) {
      const random = new FuzzRandom(`${seed} ${files === stopped} ${number}`);
      const { files: left, what, isAsBefore } = damaged(files, random);
      const isCountable = files === stopped || !isAsBefore;
      const bad = await judge
        .judge(left, isCountable, report)
        .catch((error: Error) => [error.stack ?? '']);
      report.folders++;
      for (const one of bad) report.bad.push(`${what.join(', ')}: ${one}`);
    }
  }
  return report;
}
