import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../../src/domain/clock.ts';
import type { FolderFinding } from '../../../../src/store/json/repair/finding.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { verifyAudit } from '../../../../src/store/maintenance/check.ts';
import { repairStore } from '../../../../src/store/maintenance/repair.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { inStore } from '../../../support/service/in-store.ts';
import { batchOf, guid, impression } from '../../sample-batch.ts';
import { auditRow, venueRow } from '../../sample-rows.ts';
import { type Damage, damagedDisk, damagesOf, filesIn } from '../damages.ts';
import { eachDay, fullStore, holdings } from '../full-store.ts';
import { contentsOf, copyOf } from '../store-folder.ts';
import { damageIn, repairedCopy, repairedDisk } from './repaired-copy.ts';

type Holdings = Awaited<ReturnType<typeof holdings>>;

/** Numbers held in one store and not in the other, by kind. */
function missing(before: Holdings, after: Holdings): Record<string, number[]> {
  const kinds = Object.keys(before) as (keyof Holdings)[];
  const lost = kinds.map((kind) => {
    const left = [...after[kind]];
    const gone = before[kind].filter((one) => {
      const at = left.indexOf(one as never);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    return [kind, gone.map((one) => Number.parseInt(String(one), 10))] as const;
  });
  return Object.fromEntries(lost.filter(([, gone]) => gone.length > 0));
}

/** The damaged lines of a file. */
function destroyed(original: string, { bytes, what }: Damage): string {
  const found = bytes?.toString('latin1').split('\n') ?? [];
  const left = new Set(found);
  const isMoved = (line: string, at: number) => what.endsWith('swapped') && line !== found[at];
  const lines = original.split('\n');
  return lines.filter((line, at) => !left.has(line) || isMoved(line, at)).join('\n');
}

const names = (text: string, number: number) =>
  [
    `-${String(number).padStart(12, '0')}`,
    `code-${String(number).padStart(4, '0')}`,
    `"number":${number},`,
  ].some((name) => text.includes(name));

/** Contents of a data folder, possible damages, and the holdings of a store opened from it. */
interface Subject {
  contents: Record<string, string>;
  damages: Damage[];
  before: Holdings;
}

async function subjectOf(folder: string, clock: ManualClock): Promise<Subject> {
  const contents = await contentsOf(folder);
  const damages = await damagesOf(folder);
  const before = await inStore(await copyOf(folder), holdings, { clock });
  return { contents, damages, before };
}

/** Two documents of each kind, and some of the damages. */
function chosen({ contents, damages }: Subject, kind: RegExp): Damage[] {
  const kindOf = (file: string) => file.split('-').slice(0, 2).join('-');
  const isFirst = (file: string, at: number, all: string[]) =>
    all.findIndex((one) => kindOf(one) === kindOf(file)) === at;
  const files = Object.keys(contents).filter((file) => kind.test(file));
  const documents = files.filter((file) => file.startsWith('documents/'));
  const some = [...documents.filter(isFirst), ...documents.toReversed().filter(isFirst)];
  return damages.filter(({ file }, at) =>
    documents.includes(file)
      ? some.includes(file) && at % 8 === 0
      : files.includes(file) && at % 4 === 0,
  );
}

/**
 * Repairs a folder after each damage. The new folder is valid, and lacks only data in damaged
 * bytes. The damaged folder is unchanged.
 */
async function sweep(
  subject: Subject,
  kind: RegExp,
  judge: (
    lost: Record<string, number[]>,
    damage: Damage,
    findings: readonly FolderFinding[],
  ) => void,
): Promise<void> {
  const { contents, before } = subject;
  const damages = chosen(subject, kind);
  expect(damages.length).toBeGreaterThan(2);
  for (const damage of damages) {
    const about = `${damage.file}: ${damage.what}`;
    const disk = await damagedDisk(contents, damage);
    const clock = new ManualClock(Date.UTC(2026, 10, 22, 13));
    const {
      held,
      findings,
      damage: left,
    } = await repairedDisk(disk, clock).catch((cause: unknown) => {
      throw new Error(about, { cause });
    });
    expect(
      left.filter(({ level }) => level === 'damage'),
      about,
    ).toEqual([]);
    const lost = missing(before, held);
    judge(lost, damage, findings);
    const bytes = destroyed(contents[damage.file] ?? '', damage);
    for (const [what, numbers] of Object.entries(lost)) {
      for (const number of numbers)
        expect([about, what, number, names(bytes, number)]).toEqual([about, what, number, true]);
    }
    for (const file of Object.keys(contents)) {
      const expected =
        file === damage.file ? damage.bytes : Buffer.from(contents[file] ?? '', 'latin1');
      if (expected)
        expect((await disk.readFile(`/data/${file}`)).equals(expected), file).toBe(true);
    }
  }
}

describe('a repair of a store with one damaged file', { timeout: 120_000 }, () => {
  let subject: Subject;
  beforeAll(async () => {
    const { folder, clock } = await fullStore();
    subject = await subjectOf(folder, clock);
  });

  const old = (number: number) => number <= 2 * eachDay || number >= 900;
  it.each<[string, RegExp, kinds: string[] | undefined, onlyOld: boolean]>([
    ['nothing with the manifest, its copy or the secret', /^(manifest|secret)/, [], false],
    ['nothing with a journal whose changes are in documents', /^journal/, [], false],
    ['no row that is in the journal', /^documents\/(rows|disk)/, undefined, true],
    ['at most last activity with its documents', /^documents\/marks/, ['seen'], false],
    [
      'nothing with counts, which events have',
      /^documents\/(rings|rollups|plays|sequences)/,
      [],
      false,
    ],
    ['batches of damaged lines, which reports keep counting', /^events/, ['events'], false],
    ['audit entries that are not in the journal', /^audit/, ['audit'], true],
  ])('loses %s', (_, kind, kinds, onlyOld) =>
    sweep(subject, kind, (lost, { file, what }, findings) => {
      const lostKinds = Object.keys(lost);
      const others = lostKinds.filter((one) => kinds && !kinds.includes(one));
      expect([file, what, others]).toEqual([file, what, []]);
      if (onlyOld)
        expect(
          Object.values(lost)
            .flat()
            .filter((number) => !old(number)),
        ).toEqual([]);
      if (lostKinds.length > 0)
        expect(findings.filter((one) => one.lost !== 0).length, what).toBeGreaterThan(0);
    }),
  );
});

describe('a repair of a store after a crash', { timeout: 120_000 }, () => {
  it('loses only data in damaged bytes', async () => {
    const { folder: crashed, clock } = await fullStore('crashed');
    await sweep(await subjectOf(crashed, clock), /^(manifest.json|journal|events|audit)/, () => {});
  });

  it('keeps all journal changes except the damaged one', async () => {
    const { folder: crashed, clock } = await fullStore('crashed');
    const before = await inStore(await copyOf(crashed), holdings, { clock });
    const segment =
      (await filesIn(crashed)).filter((file) => file.startsWith('journal')).at(-1) ?? '';
    const bytes = await readFile(join(crashed, segment));
    const place = 200;
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    await writeFile(join(crashed, segment), bytes);
    await expect(openStore(crashed)).rejects.toMatchObject({
      code: 'store_damaged',
      message: expect.stringContaining(
        `Run \`signage data check ${crashed}\` for details. Then restore a backup, or save the readable data with \`signage data repair ${crashed} --into NEW\`.`,
      ),
    });
    const { into, findings, held } = await repairedCopy(crashed, clock);
    const lossesOf = (all: readonly FolderFinding[]) =>
      all.filter(({ lost }) => lost !== 0).map(({ file, section, lost }) => [file, section, lost]);
    expect(lossesOf(findings)).toEqual([
      [segment, 'changes', 1],
      ['journal', 'audit', 1],
    ]);
    // Last activity is not in the journal: a crash loses up to a minute of it.
    const { seen: _seen, ...lost } = missing(before, held);
    const first = 2 * eachDay + 1;
    for (const [kind, numbers] of Object.entries(lost))
      expect([kind, [...new Set(numbers)]]).toEqual([kind, [first]]);
    expect(Object.keys(lost)).toEqual(
      expect.arrayContaining(['venues', 'screens', 'devices', 'deviceKeys', 'audit']),
    );
    const report = (await filesIn(into)).find((file) => /^repair-.*\.json$/.test(file)) ?? '';
    expect(JSON.parse(await readFile(join(into, report), 'utf8'))).toMatchObject({
      from: crashed,
      findings,
    });
  });

  it('drops the older of two rows that conflict after a change was lost', async () => {
    const folder = await temporaryFolder();
    const clock = new ManualClock();
    const store = await openStore(folder, { clock });
    await store.write((tx) => tx.put('venues', venueRow(1, { name: 'Lobby' })));
    await store.write((tx) => tx.put('venues', venueRow(1, { name: 'Old lobby' })));
    await store.write((tx) =>
      tx.put('venues', venueRow(2, { name: 'Lobby', updatedAt: 1_760_000_000_001 })),
    );
    const crashed = await copyOf(folder);
    await store.close();
    const segment = (await filesIn(crashed)).find((file) => file.startsWith('journal')) ?? '';
    const text = await readFile(join(crashed, segment), 'utf8');
    await writeFile(join(crashed, segment), text.replace('Old lobby', 'Odd lobby'));
    const into = join(await temporaryFolder(), 'new');
    const findings = await repairStore(crashed, into);
    expect(findings.some(({ what }) => what.includes(guid('venu', 1)))).toBe(true);
    const after = await openStore(into, { clock });
    expect((await after.list('venues', { limit: 10 })).items.map(({ name }) => name)).toEqual([
      'Lobby',
    ]);
    expect(await after.read.find('venues', 'name', `${venueRow(1).tenantId}/lobby`)).toMatchObject({
      id: guid('venu', 2),
    });
    await after.close();
  });

  it('remembers idempotency keys whose document is lost', async () => {
    const { folder, clock } = await fullStore();
    for (const file of await filesIn(folder))
      if (file.startsWith('documents/rings')) await rm(join(folder, file));
    const into = join(await temporaryFolder(), 'new');
    await repairStore(folder, into);
    const store = await openStore(into, { clock });
    // Key and hash were rebuilt from the events: another batch with the same key is rejected.
    const again = batchOf([impression(clock.now())], { deviceId: guid('devi', 1), key: 'key 1' });
    await expect(store.appendBatch(again)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    await store.close();
  });
});

describe('a repair', () => {
  it('creates a new secret and a new audit chain when the secret is damaged, and reports the consequences', async () => {
    const { folder } = await fullStore();
    const { summary } = await verifyAudit(folder);
    const kept = summary.head as NonNullable<typeof summary.head>;
    await rm(join(folder, 'secret'));
    const into = join(await temporaryFolder(), 'new');
    const findings = await repairStore(folder, into);
    expect(findings).toEqual([
      {
        level: 'damage',
        section: 'server',
        file: 'secret',
        offset: null,
        lost: 1,
        what: expect.stringContaining('pairing codes'),
      },
    ]);
    expect(await damageIn(into)).toEqual([]);
    const { entries } = summary;
    expect(await verifyAudit(into)).toMatchObject({
      findings: [],
      summary: { entries, first: { sequence: 1 }, head: { sequence: entries } },
    });
    const { findings: found } = await verifyAudit(into, kept);
    expect(found.map(({ what }) => what)).toEqual([
      expect.stringContaining('has rewritten the trail'),
    ]);
  });

  it('is rejected for a folder without usable files, into a non-empty folder, and for one in use', async () => {
    const { folder } = await fullStore();
    const full = await temporaryFolder();
    await writeFile(join(full, 'notes.txt'), 'mine');
    await expect(repairStore(folder, full)).rejects.toMatchObject({ code: 'folder_not_empty' });
    await expect(repairStore(folder, folder)).rejects.toMatchObject({ code: 'store_locked' });
    await expect(repairStore(folder, '/proc/new')).rejects.toMatchObject({
      code: 'store_unusable',
    });
    const empty = await temporaryFolder();
    for (const name of ['manifest.json', 'manifest.copy.json'])
      await writeFile(join(empty, name), 'x');
    const nothing = { code: 'store_damaged', message: expect.stringContaining('Restore a backup') };
    await expect(repairStore(empty, join(full, 'new'))).rejects.toMatchObject(nothing);
    await expect(repairStore(join(full, 'none'), join(full, 'new'))).rejects.toMatchObject({
      code: 'invalid_option',
    });
  });
});

describe('a repair of a store with many missing files', () => {
  const removed = async (folder: string, kind: RegExp) => {
    for (const file of await filesIn(folder)) if (kind.test(file)) await rm(join(folder, file));
  };

  it('keeps the counts of days whose events retention deleted', async () => {
    const { folder, clock } = await fullStore();
    const store = await openStore(folder, { clock });
    const before = await holdings(store);
    await store.purgeBefore(clock.now());
    await store.close();
    for (const file of await filesIn(folder)) {
      if (!/^documents\/(rollups|plays|rings)/.test(file)) continue;
      const bytes = await readFile(join(folder, file));
      await writeFile(join(folder, file), bytes.subarray(0, bytes.length - 1));
    }
    const { held } = await repairedCopy(folder, clock);
    expect(held.received).toEqual(before.received);
    expect(held.timestamp).toEqual(before.timestamp);
  });

  it('restores no audit entry that retention deleted and the journal still has', async () => {
    const folder = await temporaryFolder();
    const clock = new ManualClock();
    const store = await openStore(folder, { clock });
    for (const number of [1, 2]) {
      await store.write((tx) => tx.audit(auditRow(number, { at: clock.now() })));
      clock.advance(dayMs);
    }
    const manifest = () => readFile(join(folder, 'manifest.json'), 'utf8');
    await expect.poll(manifest).toContain('2026-11-20.ndjson');
    await store.purgeBefore(clock.now() - dayMs);
    expect((await holdings(store)).audit).toEqual([2]);
    const crashed = await copyOf(folder);
    await store.close();
    expect((await repairedCopy(crashed, clock)).held.audit).toEqual([2]);
    await removed(crashed, /^manifest/);
    expect((await repairedCopy(crashed, clock)).held.audit).toEqual([2]);
  });

  it('works after all events and audit entries were deleted', async () => {
    const { folder, clock } = await fullStore('crashed');
    const store = await openStore(folder, { clock });
    clock.advance(2 * dayMs);
    await store.purgeBefore(clock.now());
    await store.close();
    const { findings, held } = await repairedCopy(folder, clock);
    expect(findings).toEqual([]);
    expect([held.events, held.audit]).toEqual([[], []]);
    const { folder: bare } = await fullStore();
    await removed(bare, /^(events|audit)/);
    expect((await repairedCopy(bare, clock)).held).toMatchObject({
      events: [],
      audit: [2 * eachDay + 1, 2 * eachDay + 2],
    });
  });

  it('works without the journal, or without a document', async () => {
    const { folder, clock } = await fullStore();
    const before = (await repairedCopy(await copyOf(folder), clock)).held;
    await removed(folder, /^journal/);
    const { findings, held } = await repairedCopy(folder, clock);
    expect(held).toEqual(before);
    expect(findings).toEqual([
      expect.objectContaining({
        lost: 0,
        what: 'the file is missing',
      }),
    ]);
    await removed(folder, /^documents/);
    const bare = await repairedCopy(folder, clock);
    expect(bare.held).toMatchObject({
      screens: [],
      events: before.events,
      audit: before.audit,
      received: before.received,
    });
  });
});
