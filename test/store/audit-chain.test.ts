import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dayMs, iso } from '../../src/domain/clock.ts';
import { frame } from '../../src/store/json/log/frame.ts';
import { openStore } from '../../src/store/location/open.ts';
import { checkStore, verifyAudit } from '../../src/store/maintenance/check.ts';
import { copyStore } from '../../src/store/maintenance/copy.ts';
import { restoreStore } from '../../src/store/maintenance/restore.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { inDatabase } from '../support/postgres/in-database.ts';
import { freshDatabase } from '../support/postgres/postgres.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { inStore } from '../support/service/in-store.ts';
import { copyOf } from './json/store-folder.ts';
import { auditRow, tenantRow } from './sample-rows.ts';

/** `garbage`: a text in place of the entry. */
type Line = {
  entry: Record<string, unknown>;
  garbage?: string;
  link?: { writer: string; seq: number; mac: string };
};

/** A kind of store, and the tampering possible with access to its disk but without the secret. */
interface Kind {
  place(): Promise<string>;
  /** Rewrites all entries, with valid checksums. */
  rewrite(place: string, how: (lines: Line[]) => Line[]): Promise<void>;
  /** Names another entry as the head, and keeps the old signature. */
  forgeHead(place: string, link: NonNullable<Line['link']>): Promise<void>;
}

async function changeManifest(
  place: string,
  how: (marks: Record<string, Record<string, object>>) => void,
): Promise<void> {
  const { crc: _crc, ...manifest } = JSON.parse(
    await readFile(join(place, 'manifest.json'), 'utf8'),
  );
  how(manifest.marks);
  const bytes = frame(JSON.stringify(manifest).slice(1));
  for (const file of ['manifest.json', 'manifest.copy.json'])
    await writeFile(join(place, file), bytes);
}

const folders: Kind = {
  place: async () => join(await temporaryFolder(), 'data'),
  async rewrite(place, how) {
    const [name = ''] = (await readdir(join(place, 'audit'))).sort();
    const path = join(place, 'audit', name);
    const before = await readFile(path, 'utf8');
    const lines = before
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const places = lines.map(({ seq, n }) => ({ seq, n }));
    const texts = how(lines).map(({ entry, garbage, link }, at) => {
      const { seq, n } = places[at] ?? { ...places.at(-1), n: at };
      return frame(
        `"seq":${seq},"n":${n},"entry":${garbage ?? JSON.stringify(entry)}${link ? `,"link":${JSON.stringify(link)}` : ''}}`,
      );
    });
    await writeFile(path, Buffer.concat(texts));
    const size = Buffer.concat(texts).length;
    await changeManifest(place, ({ audit }) => {
      if (audit?.file !== (name as never)) Object.assign(audit?.files ?? {}, { [name]: size });
      else Object.assign(audit, { size, seq: places[texts.length - 1]?.seq ?? places.at(-1)?.seq });
    });
  },
  forgeHead: (place, link) =>
    changeManifest(place, ({ chain }) => void Object.assign(chain?.head ?? {}, link)),
};

const databases: Kind = {
  place: freshDatabase,
  async rewrite(place, how) {
    await inDatabase(place, async (sql) => {
      const rows = await sql('SELECT * FROM signage.audit ORDER BY seq');
      const lines = rows.map((row) => {
        const { writer, link, mac } = row;
        return {
          entry: JSON.parse(String(row.entry)),
          ...(writer !== null && {
            link: { writer: String(writer), seq: Number(link), mac: String(mac) },
          }),
        };
      });
      await sql('DELETE FROM signage.audit');
      for (const { entry, garbage, link } of how(lines as Line[])) {
        const text = (value: unknown) => (value === undefined ? 'NULL' : `'${String(value)}'`);
        await sql(`INSERT INTO signage.audit (at, tenant_id, action, subject_id, venue_ids, entry, writer, link, mac) VALUES (${entry.at},
          ${text(entry.tenantId ?? '')}, ${text(entry.action)}, ${text((entry.subject as { id: string }).id)}, '{}', ${text(garbage ?? JSON.stringify(entry))},
          ${text(link?.writer)}, ${link?.seq ?? 'NULL'}, ${text(link?.mac)})`);
      }
    });
  },
  async forgeHead(place, { writer, seq, mac }) {
    await inDatabase(place, (sql) =>
      sql(
        `UPDATE signage.audit_chain SET head_writer = '${writer}', head_link = ${seq}, head_mac = '${mac}'`,
      ),
    );
  },
};

const within = <T>(place: string, clock: ManualClock, work: (store: Store) => Promise<T>) =>
  inStore(place, work, { clock });

/** Writes entries in changes of one to three entries. */
async function write(store: Store, clock: ManualClock, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) {
    await store.write(async (tx) => {
      await tx.put('tenants', tenantRow(1));
      for (const end = Math.min(to, number + (number % 3)); number <= end; number++)
        await tx.audit(auditRow(number, { at: clock.now() }));
      number--;
    });
  }
}

async function store(kind: Kind, entries = 10) {
  const clock = new ManualClock();
  const place = await kind.place();
  await within(place, clock, async (opened) => {
    await opened.write((tx) => tx.put('tenants', tenantRow(1)));
    await write(opened, clock, 1, entries);
  });
  return { clock, place };
}

const damages = async (place: string, kept?: Parameters<typeof verifyAudit>[1]) =>
  (await verifyAudit(place, kept)).findings
    .filter(({ level }) => level === 'damage')
    .map(({ sequence, what }) => [sequence, what]);
const headOf = async (place: string) => {
  const { head } = (await verifyAudit(place)).summary;
  if (!head) throw new Error('there is no head');
  return head;
};

describe.each([
  ['a data folder', folders],
  ['a database', databases],
])('the audit trail of %s', (_, kind) => {
  it.each<[string, (lines: Line[]) => Line[], [number | null, string][]]>([
    [
      'changed',
      (lines) =>
        lines.map((line, n) =>
          n === 4 ? { ...line, entry: { ...line.entry, action: 'screen.delete' } } : line,
        ),
      [[5, 'was changed']],
    ],
    [
      'given a link of another form',
      (lines) =>
        lines.map((line, n) =>
          n === 9 ? { ...line, link: { writer: 'me', seq: 10, mac: 'none' } } : line,
        ),
      [
        [null, 'this is not an entry'],
        [10, 'the end of the trail is missing'],
      ],
    ],
    [
      'stripped of its MAC',
      (lines) => lines.map((line, n) => (n === 9 ? { entry: line.entry } : line)),
      [
        [null, 'entry'],
        [10, 'the end of the trail is missing'],
      ],
    ],
    [
      'cut off at the end',
      (lines) => lines.slice(0, 7),
      [[10, 'the end of the trail is missing: entries 8 to 10 are missing']],
    ],
  ])('reports the location of an entry that was %s', async (_what, how, expected) => {
    const { place } = await store(kind);
    await kind.rewrite(place, (lines) => lines);
    expect(await damages(place)).toEqual([]);
    await kind.rewrite(place, how);
    expect(await damages(place)).toEqual(
      expected.map(([sequence, what]) => [sequence, expect.stringContaining(what)]),
    );
    if (kind !== folders) return;
    const found = (await checkStore(place)).filter(({ level }) => level === 'damage');
    // The journal still has an entry that cannot be read in its day file.
    const isUnreadable = expected.some(([sequence]) => sequence === null);
    const whats = isUnreadable ? ['a damaged line was left out'] : expected.map(([, what]) => what);
    expect(found.map(({ what }) => what)).toEqual(
      whats.map((what) => expect.stringContaining(what)),
    );
  });

  it('verifies after retention, and reports entries deleted by others', async () => {
    const { clock, place } = await store(kind, 4);
    await within(place, clock, async (opened) => {
      for (const day of [1, 2, 3]) {
        clock.advance(dayMs);
        await write(opened, clock, day * 10, day * 10 + 3);
      }
      await opened.purgeBefore(clock.now() - dayMs);
    });
    const { findings, summary } = await verifyAudit(place);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({
      entries: 8,
      first: { sequence: 9 },
      head: { sequence: 16 },
    });
    const copied = await freshDatabase();
    await copyStore(place, copied, { clock });
    expect(await verifyAudit(copied)).toEqual({ findings, summary });
    await within(place, clock, async (opened) => {
      clock.advance(dayMs);
      await write(opened, clock, 40, 41);
    });
    expect(await verifyAudit(place)).toMatchObject({
      findings: [],
      summary: { head: { sequence: 18, writer: summary.first?.writer } },
    });
    await kind.rewrite(place, (lines) => lines.slice(2));
    expect((await damages(place))[0]).toEqual([
      11,
      expect.stringContaining('entries 9 to 10 are missing'),
    ]);
  });

  it('tells a purge that the trail records from a loss, also offline and in copies', async () => {
    const { clock, place } = await store(kind, 4);
    const { head } = (await verifyAudit(place)).summary;
    const kept = { ...(head as NonNullable<typeof head>), sequence: 3 };
    const record = (opened: Store, before: string) => () =>
      opened.write((tx) =>
        tx.audit({
          ...auditRow(90, { at: clock.now() }),
          action: 'retention.purge',
          details: { before },
        }),
      );
    const days: string[] = [];
    const purge = () =>
      within(place, clock, async (opened) => {
        clock.advance(3 * dayMs);
        days.push(iso(clock.now()).slice(0, 10));
        await opened.purgeBefore(clock.now(), record(opened, days[0] as string));
      });
    await purge();
    const note = {
      level: 'note',
      what: expect.stringContaining(`days before ${days[0]}, were purged`),
    };
    const older = { level: 'note', what: expect.stringContaining('older than the entries') };
    const copied = await freshDatabase();
    await copyStore(place, copied, { clock });
    const folder = join(await temporaryFolder(), 'copy');
    await copyStore(copied, folder, { clock });
    for (const one of [place, copied, folder])
      expect((await verifyAudit(one, kept)).findings).toMatchObject([note, older]);
    // The trail says that only the entries before the first day were purged.
    await purge();
    expect(await damages(place)).toEqual([
      [5, expect.stringContaining(`entries before ${days[1]} are missing`)],
    ]);
  });

  it('records nothing when nothing is past its retention', async () => {
    const { clock, place } = await store(kind, 4);
    let records = 0;
    await within(place, clock, (opened) =>
      opened.purgeBefore(clock.now(), async () => void records++),
    );
    expect(records).toBe(0);
  });

  it('deletes nothing if the purge cannot be recorded', async () => {
    const { clock, place } = await store(kind, 4);
    await within(place, clock, async (opened) => {
      clock.advance(3 * dayMs);
      const failing = opened.purgeBefore(clock.now(), () => Promise.reject(new Error('full')));
      await expect(failing).rejects.toThrow('full');
    });
    expect(await verifyAudit(place)).toMatchObject({ findings: [], summary: { entries: 4 } });
  });

  it('verifies after retention has deleted everything', async () => {
    const { clock, place } = await store(kind, 4);
    await within(place, clock, async (opened) => {
      clock.advance(3 * dayMs);
      await opened.purgeBefore(clock.now());
    });
    expect(await verifyAudit(place)).toMatchObject({
      findings: [],
      summary: { entries: 0, head: null },
    });
    await within(place, clock, (opened) => write(opened, clock, 5, 6));
    expect(await verifyAudit(place)).toMatchObject({
      findings: [],
      summary: { entries: 2, first: { sequence: 5 } },
    });
  });

  it('signs no start for entries that were changed before retention deletes them', async () => {
    const { clock, place } = await store(kind, 4);
    await within(place, clock, async (opened) => {
      clock.advance(3 * dayMs);
      await write(opened, clock, 5, 6);
    });
    await kind.rewrite(place, (lines) =>
      lines.map((line, n) =>
        n === 1 ? { ...line, entry: { ...line.entry, action: 'venue.delete' } } : line,
      ),
    );
    await within(place, clock, (opened) => opened.purgeBefore(clock.now()));
    expect(await damages(place)).toEqual([
      [5, expect.stringContaining('entries 1 to 4 are missing')],
    ]);
  });

  it('keeps reporting cut-off entries when the service resumes from a forged head', async () => {
    const { clock, place } = await store(kind);
    let left: Line[] = [];
    await kind.rewrite(place, (lines) => (left = lines.slice(0, 7)));
    await kind.forgeHead(place, left.at(-1)?.link as NonNullable<Line['link']>);
    expect((await damages(place)).length).toBeGreaterThan(0);
    await within(place, clock, (opened) => write(opened, clock, 20, 22));
    expect(await damages(place)).toEqual([[9, expect.stringContaining('entry 8 is missing')]]);
  });

  it.each(['null', 'garbage', '{}', `${'['.repeat(20_000)}${']'.repeat(20_000)}`])(
    'reports an entry replaced by %.20s, and retention continues',
    async (text) => {
      const { clock, place } = await store(kind);
      await kind.rewrite(place, (lines) =>
        lines.with(2, { entry: lines[2]!.entry, garbage: text }),
      );
      expect((await damages(place)).length).toBeGreaterThan(0);
      await within(place, clock, async (opened) => {
        clock.advance(3 * dayMs);
        await opened.purgeBefore(clock.now());
        await write(opened, clock, 20, 22);
      });
      expect(await damages(place)).toEqual([
        [11, expect.stringContaining('entries 1 to 10 are missing')],
      ]);
    },
  );

  it('has no gap after failed changes', async () => {
    const { clock, place } = await store(kind, 3);
    await within(place, clock, async (opened) => {
      const failing = opened.write(async (tx) => {
        await tx.audit(auditRow(50, { at: clock.now() }));
        throw new Error('thought better of it');
      });
      const racing = [60, 61, 62, 63, 64, 65].map((number) =>
        opened.write(async (tx) => {
          const row = await tx.get('tenants', tenantRow(1).id);
          await tx.put('tenants', { ...tenantRow(1), updatedAt: (row?.updatedAt ?? 0) + 1 });
          await tx.audit(auditRow(number, { at: clock.now() }));
        }),
      );
      await expect(failing).rejects.toThrow('better');
      await Promise.all(racing);
    });
    expect(await verifyAudit(place)).toMatchObject({
      findings: [],
      summary: { entries: 9, head: { sequence: 9 } },
    });
  });

  it('detects with a kept head that an older backup was restored', async () => {
    const { clock, place } = await store(kind, 4);
    const older = await headOf(place);
    const copied = await kind.place();
    await copyStore(place, copied, { clock });
    await within(place, clock, (opened) => write(opened, clock, 5, 9));
    const newer = await headOf(place);
    expect(await damages(place, older)).toEqual([]);
    expect(await damages(place, newer)).toEqual([]);
    expect(await damages(copied, older)).toEqual([]);
    expect(await damages(copied)).toEqual([]);
    expect(await damages(copied, newer)).toEqual([
      [9, expect.stringContaining('entries 5 to 9 are missing')],
    ]);
    await within(copied, clock, (opened) => write(opened, clock, 5, 12));
    expect(await damages(copied)).toEqual([]);
    expect(await damages(copied, newer)).toEqual([
      [9, expect.stringContaining('has rewritten the trail')],
    ]);
  });
});

describe('the audit trail', () => {
  it('verifies after a crash before the first checkpoint, and in a backup made then', async () => {
    const place = await folders.place();
    const restored = await folders.place();
    const clock = new ManualClock();
    const opened = await openStore(place, { clock });
    await write(opened, clock, 1, 5);
    const crashed = await copyOf(place);
    await restoreStore(await opened.backup(), restored);
    for (const one of [crashed, restored]) {
      expect(await verifyAudit(one)).toMatchObject({
        findings: [],
        summary: { entries: 5, head: { sequence: 5 } },
      });
      expect(await checkStore(one)).toEqual([]);
    }
    await opened.close();
    const { head } = (await verifyAudit(place)).summary;
    await within(restored, clock, (again) => write(again, clock, 6, 7));
    expect((await headOf(restored)).writer).not.toBe(head?.writer);
    expect(await damages(restored, head as NonNullable<typeof head>)).toEqual([]);
  });

  it('survives copies from folder to database and back, with a new writer each time', async () => {
    const { clock, place } = await store(folders, 5);
    const database = await databases.place();
    const back = await folders.place();
    await copyStore(place, database, { clock });
    await within(database, clock, (opened) => write(opened, clock, 6, 8));
    await copyStore(database, back, { clock });
    await within(back, clock, (opened) => write(opened, clock, 9, 10));
    for (const [one, entries] of [
      [place, 5],
      [database, 8],
      [back, 10],
    ] as const)
      expect(await verifyAudit(one)).toMatchObject({
        findings: [],
        summary: { entries, head: { sequence: entries } },
      });
    expect(
      new Set([
        (await headOf(place)).writer,
        (await headOf(database)).writer,
        (await headOf(back)).writer,
      ]).size,
    ).toBe(3);
  });

  it('is one chain across racing instances on a database, even if one crashes', async () => {
    const place = await databases.place();
    const clock = new ManualClock();
    const instances = await Promise.all([1, 2, 3].map(() => openStore(place, { clock })));
    await Promise.all(
      instances.flatMap((one, at) =>
        Array.from({ length: 20 }, (_, n) =>
          one.write((tx) => tx.audit(auditRow(at * 100 + n, { at: clock.now() }))),
        ),
      ),
    );
    expect(await verifyAudit(place)).toMatchObject({
      findings: [],
      summary: { entries: 60, head: { sequence: 60 } },
    });
    await Promise.all(instances.map((one) => one.close()));
  });

  it('store_unusable for a database without data or without a schema', async () => {
    const place = await databases.place();
    for (const [change, why] of [
      ['DELETE FROM signage.server', 'it holds no data'],
      ['DROP SCHEMA signage CASCADE', 'its schema is missing'],
    ] as const) {
      await inDatabase(place, (sql) => sql(change));
      await expect(verifyAudit(place)).rejects.toMatchObject({
        code: 'store_unusable',
        message: expect.stringContaining(why),
      });
    }
  });

  it('verifies after the next retention of a folder whose last one left its files behind', async () => {
    const { clock, place } = await store(folders, 4);
    const purge = () =>
      within(place, clock, async (opened) => {
        clock.advance(dayMs);
        await write(opened, clock, 5, 8);
        await opened.purgeBefore(clock.now());
      });
    const old = await copyOf(place);
    await purge();
    // As after a crash between the new start of the chain and the deletion of the files.
    await cp(join(old, 'audit'), join(place, 'audit'), { recursive: true });
    await purge();
    expect(await verifyAudit(place)).toMatchObject({
      findings: [],
      summary: { entries: 4, first: { sequence: 9 } },
    });
  });

  it('detects changed columns that hide an entry from readers', async () => {
    const { place } = await store(databases);
    await inDatabase(place, (sql) =>
      sql(`UPDATE signage.audit SET tenant_id = 'none' WHERE link = 3`),
    );
    expect(await damages(place)).toEqual([[3, expect.stringContaining('tenant_id')]]);
  });
});
