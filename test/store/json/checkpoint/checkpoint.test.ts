import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DocumentOwner } from '../../../../src/store/json/checkpoint/document-owner.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import type { Store } from '../../../../src/store/store.ts';
import { diskFull, type FaultyDisk, faultyDisk } from '../../../support/disk/faulty-disk.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { guid, tenantA } from '../../sample-batch.ts';
import { contentRow, deviceRow, screenRow, tokenRow, venueRow } from '../../sample-rows.ts';
import { CrashDisk } from '../crash-disk.ts';
import { contextOn, openParts } from '../part-rig.ts';

const minuteMs = 60_000;

describe('a checkpoint', () => {
  let crash: CrashDisk;
  let disk: FaultyDisk;
  let clock: ManualClock;
  let store: Store;
  let warnings: string[];
  const open = async (on = crash) => {
    crash = on;
    disk = faultyDisk(crash);
    clock = new ManualClock();
    warnings = [];
    store = await openStore('memory:', {
      disk,
      clock,
      onWarning: (message, cause) =>
        void warnings.push(`${message} (${(cause as Error)?.message})`),
    });
  };
  const put = (number: number) => store.write((tx) => tx.put('venues', venueRow(number)));
  const numbers = async () =>
    (await store.list('venues', { limit: 200 })).items.map((row) => Number(row.id.slice(-4)));
  const documents = () => crash.paths().filter((path) => path.startsWith('memory:/documents/'));
  const segments = () => crash.paths().filter((path) => path.startsWith('memory:/journal/'));
  const minute = async () => {
    clock.advance(minuteMs);
    for (let turn = 0; turn < 60; turn++) await setImmediate();
  };
  const failOnDocuments = (failing: string) => {
    disk.fault = (operation, path) => {
      if (operation === failing && path.includes('/documents')) throw diskFull();
      return undefined;
    };
  };
  const written = (from: number) =>
    disk.calls
      .slice(from)
      .filter((call) => call.startsWith('rename') && call.includes('/documents/'));

  beforeEach(() => open(new CrashDisk()));

  it('runs a minute after a change, writes only changed documents, and keeps one version of each', async () => {
    await store.write(async (tx) => {
      await tx.put('venues', venueRow(1));
      await tx.put('tokens', tokenRow(1));
    });
    await minute();
    expect(documents()).toEqual([
      expect.stringMatching(/rows-tenants\.1\.json$/),
      expect.stringMatching(/rows-venues-[0-3][0-9a-f]\.1\.json$/),
    ]);
    const before = disk.calls.length;
    await store.write((tx) => tx.put('tokens', tokenRow(2)));
    await minute();
    expect(written(before)).toEqual(['rename memory:/documents/rows-tenants.2.json.tmp']);
    expect(documents()).toHaveLength(2);
  });

  it('writes nothing if nothing has changed', async () => {
    await put(1);
    await minute();
    const before = disk.calls.filter((call) => !call.startsWith('close')).length;
    await minute();
    await minute();
    expect(disk.calls.filter((call) => !call.startsWith('close')).length).toBe(before);
  });

  it('syncs documents, then their folder, then the manifest and its copy, before it deletes files', async () => {
    await put(1);
    await minute();
    const from = disk.calls.length;
    await put(1);
    await minute();
    const steps = disk.calls
      .slice(from)
      .filter((call) => !/close|\/(journal|events|audit)/.test(call));
    const name = documents()[0]!.replace('.2.json', '');
    expect(steps).toEqual([
      `create ${name}.2.json.tmp`,
      `write ${name}.2.json.tmp`,
      `datasync ${name}.2.json.tmp`,
      `rename ${name}.2.json.tmp`,
      'syncDirectory memory:/documents',
      'create memory:/manifest.json.tmp',
      'write memory:/manifest.json.tmp',
      'datasync memory:/manifest.json.tmp',
      'rename memory:/manifest.json.tmp',
      'syncDirectory memory:',
      'create memory:/manifest.copy.json.tmp',
      'write memory:/manifest.copy.json.tmp',
      'datasync memory:/manifest.copy.json.tmp',
      'rename memory:/manifest.copy.json.tmp',
      'syncDirectory memory:',
      `unlink ${name}.1.json`,
    ]);
  });

  it('deletes a document that has become empty', async () => {
    await put(1);
    await minute();
    await store.write((tx) => tx.delete('venues', guid('venu', 1)));
    await minute();
    expect(documents()).toEqual([]);
    await open(crash.afterKill());
    expect(await numbers()).toEqual([]);
    await put(1);
    await minute();
    expect(documents()).toHaveLength(1);
  });

  it('runs at once when the journal has grown by 8 MiB, and deletes obsolete segments', async () => {
    const items = JSON.stringify('x'.repeat(5 * 1024 * 1024));
    for (let version = 1; version <= 8; version++) {
      await store.write((tx) =>
        tx.put('contents', contentRow(1, { items, tenantId: `${version}` })),
      );
      for (let turn = 0; turn < 200; turn++) await setImmediate();
    }
    expect(documents()).toHaveLength(1);
    expect(segments()).toEqual(['memory:/journal/0000000000000005-000001.log']);
    await open(crash.afterKill());
    expect((await store.read.get('contents', 'content-1'))?.tenantId).toBe('8');
  });

  it('holds changes back while the journal outgrows it, also after a crash', async () => {
    const mebibyte = 1024 * 1024;
    const items = JSON.stringify('x'.repeat(mebibyte));
    const journalBytes = async () => {
      const sizes = await Promise.all(segments().map((path) => crash.sizeOf(path)));
      return sizes.reduce<number>((sum, size = 0) => sum + size, 0);
    };
    for (let life = 1; life <= 2; life++) {
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      disk.fault = (operation, path) =>
        operation === 'datasync' && path.includes('/documents/') ? held : undefined;
      const changes = Array.from({ length: 46 }, (_, turn) =>
        store.write((tx) =>
          tx.put('contents', contentRow(turn, { items, tenantId: `${life} ${turn}` })),
        ),
      );
      for (let turn = 0; turn < 500; turn++) await setImmediate();
      expect(await journalBytes()).toBeLessThan(42 * mebibyte);
      const killed = crash.afterKill();
      release();
      await Promise.all(changes);
      expect((await store.read.get('contents', 'content-45'))?.tenantId).toBe(`${life} 45`);
      await open(killed);
    }
  });

  it('loses no change that is written meanwhile', async () => {
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let turn = 0; turn < 20; turn++) {
        await store.write(async (tx) => {
          await tx.put('screens', screenRow(writer, { name: `${writer} at ${turn}` }));
          await tx.put('devices', deviceRow(writer, { suspendReason: `${turn}` }));
        });
      }
    });
    const checkpoints = (async () => {
      for (let turn = 0; turn < 10; turn++) {
        clock.advance(minuteMs);
        for (let rest = 0; rest < 10; rest++) await setImmediate();
        const copy = await openStore('memory:', {
          disk: crash.afterPowerCut(),
          clock: new ManualClock(),
        });
        for (const row of (await copy.list('screens', { limit: 200 })).items) {
          const device = await copy.read.get(
            'devices',
            row.id.replace(guid('scre', 0).slice(0, 8), guid('devi', 0).slice(0, 8)),
          );
          expect(row.name.endsWith(` at ${device?.suspendReason}`)).toBe(true);
        }
      }
    })();
    await Promise.all([...writers, checkpoints]);
    await open(crash.afterKill());
    const { items } = await store.list('screens', { limit: 200 });
    expect(items.map((row) => row.name).sort()).toEqual(
      Array.from({ length: 20 }, (_, writer) => `${writer} at 19`).sort(),
    );
    expect(await store.read.count('devices', 'tenantId', tenantA)).toBe(20);
  });

  it.each(['create', 'write', 'datasync', 'rename', 'syncDirectory'] as const)(
    'that fails (%s of a document) is logged and retried, and loses nothing',
    async (failing) => {
      await put(1);
      await minute();
      await put(2);
      failOnDocuments(failing);
      await minute();
      expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
      await put(3);
      expect(documents().filter((path) => !path.endsWith('.1.json'))).toEqual([]);
      const crashed = crash.afterPowerCut();
      disk.fault = () => undefined;
      await minute();
      expect(documents().length).toBeGreaterThan(1);
      for (const on of [crashed, crash.afterPowerCut()]) {
        await open(on);
        expect(await numbers()).toEqual([1, 2, 3]);
      }
    },
  );

  it.each(['write', 'rename', 'syncDirectory'] as const)(
    'that fails at the manifest (%s) leaves a valid manifest, old or new',
    async (failing) => {
      await put(1);
      await minute();
      await put(1);
      await put(2);
      disk.fault = (operation, path) => {
        if (operation === failing && (path.includes('manifest') || path === 'memory:'))
          throw diskFull();
        return undefined;
      };
      await minute();
      expect(warnings).toHaveLength(1);
      const crashed = [crash.afterPowerCut(), crash.afterKill()];
      disk.fault = () => undefined;
      await put(3);
      await minute();
      for (const [index, on] of [...crashed, crash.afterPowerCut(), crash.afterKill()].entries()) {
        await open(on);
        expect(await numbers()).toEqual(index < 2 ? [1, 2] : [1, 2, 3]);
      }
    },
  );

  it('succeeds even if it cannot delete the files that it has replaced', async () => {
    await put(1);
    await minute();
    await put(2);
    disk.fault = (operation) => {
      if (operation === 'unlink') throw new Error('planted');
      return undefined;
    };
    await minute();
    await open(crash.afterPowerCut());
    expect(await numbers()).toEqual([1, 2]);
    await minute();
    expect(documents().every((path) => path.endsWith('.2.json') || path.endsWith('.1.json'))).toBe(
      true,
    );
  });

  it('that fails at close loses nothing: the next start replays the journal', async () => {
    await put(1);
    failOnDocuments('create');
    await store.close();
    expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
    await open(crash.afterPowerCut());
    expect(await numbers()).toEqual([1]);
  });
});

it('a checkpoint renders one document in each turn of the event loop', async () => {
  let turn = 0;
  let isOver = false;
  const rendered: number[] = [];
  const owner: DocumentOwner = {
    kind: 'rows',
    log: 'none',
    dirty: () => Array.from({ length: 12 }, (_, n) => `rows-${n}`),
    async render() {
      rendered.push(turn);
      return { lines: ['1'], seq: 0 };
    },
    failed: () => {},
    load: async () => {},
  };
  const rig = await openParts(contextOn(new CrashDisk(), new ManualClock()), [], [owner]);
  const counting = (async () => {
    for (; !isOver; turn++) await setImmediate();
  })();
  await rig.checkpoint();
  isOver = true;
  await counting;
  expect(rendered).toHaveLength(12);
  expect(new Set(rendered).size).toBe(12);
});
