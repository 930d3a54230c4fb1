import { beforeEach, describe, expect, it } from 'vitest';
import { GroupLog } from '../../../../src/store/json/log/group-log.ts';
import { diskFull, type FaultyDisk, faultyDisk } from '../../../support/disk/faulty-disk.ts';
import { CrashDisk } from '../crash-disk.ts';

const unavailable = expect.objectContaining({ code: 'unavailable' });
/** A record in two pieces. */
const line = (text: string) => [Buffer.from(text), Buffer.from('\n')];

describe('GroupLog', () => {
  let crash: CrashDisk;
  let disk: FaultyDisk;
  const text = (file = 'a.log') => crash.text(`/log/${file}`);
  const afterPowerCut = (file = 'a.log') => crash.afterPowerCut().text(`/log/${file}`);
  const open = (resume?: { file: string; size: number }) =>
    new GroupLog({
      disk,
      directory: '/log',
      lowWaterBytes: 1000,
      ...(resume && { resume }),
    });
  /** A log with one record. */
  const begun = async () => {
    const log = open();
    await log.append('a.log', line('one'));
    return log;
  };
  /** Makes the first matching operation fail. */
  const failOnce = (operation: string, error = new Error(`planted: ${operation}`)) => {
    let left = 1;
    disk.fault = (one) => {
      if (one === operation && left-- > 0) throw error;
    };
  };
  /** Lets the next write take 2 bytes and no more, and this operation fail. */
  const tearNext = (failing?: string) => {
    const takes = [2, 0];
    disk.fault = (operation) => {
      if (operation === failing) throw new Error('planted');
      return operation === 'write' ? takes.shift() : undefined;
    };
  };
  const synced = () => disk.calls.filter((call) => call.startsWith('datasync')).length;

  beforeEach(() => {
    crash = new CrashDisk();
    disk = faultyDisk(crash);
  });

  it('has each record on disk when append resolves, and returns its place', async () => {
    const log = open();
    expect(await log.append('a.log', line('one'))).toEqual({ file: 'a.log', offset: 0, length: 4 });
    expect(afterPowerCut()).toBe('one\n');
    expect(await log.append('a.log', line('two'))).toEqual({ file: 'a.log', offset: 4, length: 4 });
    expect(afterPowerCut()).toBe('one\ntwo\n');
  });

  it('groups records that arrive while the disk is busy into one fdatasync, in order', async () => {
    const log = open();
    const order: string[] = [];
    const records = Array.from({ length: 100 }, (_, number) => {
      const landed = () => order.push(`landed ${number}`);
      return log
        .append('a.log', line(String(number)), landed)
        .then(() => order.push(`answered ${number}`));
    });
    await Promise.all(records);
    expect(synced()).toBeLessThanOrEqual(2);
    expect(text()).toBe(Array.from({ length: 100 }, (_, number) => `${number}\n`).join(''));
    expect(order.filter((one) => one.startsWith('landed'))).toEqual(
      Array.from({ length: 100 }, (_, number) => `landed ${number}`),
    );
    expect(order.indexOf('landed 1')).toBeLessThan(order.indexOf('answered 1'));
  });

  it('keeps the records of groups of all sizes intact, small and large alternating', async () => {
    const log = open();
    const mebibyte = 1024 * 1024;
    const groups = [
      [1],
      [5, 7],
      [mebibyte, 3],
      [3, 2 * mebibyte, 3 * mebibyte],
      [9, 1, 1],
      [mebibyte, mebibyte, mebibyte],
    ];
    const letter = (group: number, record: number) => String.fromCharCode(97 + 3 * group + record);
    for (const [group, sizes] of groups.entries()) {
      const places = await Promise.all(
        sizes.map((size, record) => log.append('a.log', line(letter(group, record).repeat(size)))),
      );
      expect(places.map(({ length }) => length)).toEqual(sizes.map((size) => size + 1));
    }
    const expected = groups
      .flatMap((sizes, group) =>
        sizes.map((size, record) => `${letter(group, record).repeat(size)}\n`),
      )
      .join('');
    expect(afterPowerCut() === expected).toBe(true);
  });

  it('retries short writes', async () => {
    disk.fault = (operation) => (operation === 'write' ? 2 : undefined);
    await open().append('a.log', line('one record'));
    expect(afterPowerCut()).toBe('one record\n');
  });

  it('rejects a record if a write returns 0 bytes, and truncates its rest at once', async () => {
    const log = await begun();
    tearNext();
    await expect(log.append('a.log', line('two'))).rejects.toEqual(unavailable);
    expect(text()).toBe('one\n');
    expect(afterPowerCut()).toBe('one\n');
    expect(await log.append('a.log', line('three'))).toMatchObject({ file: 'a.log', offset: 4 });
    expect(afterPowerCut()).toBe('one\nthree\n');
    expect(log.broken).toBeUndefined();
  });

  it('rejects all records behind a failed group, and counts the failure before', async () => {
    const log = open();
    failOnce('write', diskFull());
    const records = ['a.log', 'a.log', 'b.log'].map((file) =>
      log.append(file, line('x')).catch(() => [file, log.failures]),
    );
    expect(log.failures).toBe(0);
    expect(await Promise.all(records)).toEqual([
      ['a.log', 1],
      ['a.log', 1],
      ['b.log', 1],
    ]);
    expect(await log.append('b.log', line('later'))).toMatchObject({ file: 'b.log', offset: 0 });
  });

  it('leaves no whole record of a group that was written in part', async () => {
    const log = await begun();
    const takes = [7, 0];
    disk.fault = (operation) => (operation === 'write' ? takes.shift() : undefined);
    const group = ['two', 'three'].map((record) => log.append('a.log', line(record)));
    for (const { status } of await Promise.allSettled(group)) expect(status).toBe('rejected');
    expect(crash.afterKill().text('/log/a.log')).toBe('one\n');
    expect(crash.afterPowerCut(1).text('/log/a.log')).toBe('one\n');
  });

  it('says that a change may be there if it can be neither written nor removed', async () => {
    const log = await begun();
    tearNext('truncate');
    await expect(log.append('a.log', line('two'))).rejects.toThrow('may be there after a restart');
  });

  it('rejects records until the rest of a failed write can be truncated', async () => {
    const log = await begun();
    let failing = true;
    disk.fault = (operation) => {
      if (failing && operation === 'write') return disk.calls.at(-2)?.startsWith('write') ? 0 : 1;
      if (failing && operation === 'truncate') throw new Error('planted');
      return undefined;
    };
    for (let turn = 0; turn < 3; turn++)
      await expect(log.append('a.log', line('two'))).rejects.toEqual(unavailable);
    expect(text()).toBe('one\nt');
    failing = false;
    await log.append('a.log', line('three'));
    expect(afterPowerCut()).toBe('one\nthree\n');
  });

  it('acknowledges nothing after a failed fdatasync, and truncates the group', async () => {
    const log = await begun();
    failOnce('datasync');
    const first = log.append('a.log', line('two'));
    await expect(first).rejects.toEqual(unavailable);
    expect(log.broken).toMatchObject({ code: 'unavailable', cause: expect.any(Error) });
    await expect(log.append('a.log', line('three'))).rejects.toBe(log.broken);
    expect(text()).toBe('one\n');
    await log.close();
    expect(afterPowerCut()).toBe('one\n');
  });

  it('acknowledges nothing in a new file before its name is on disk', async () => {
    const log = await begun();
    failOnce('syncDirectory');
    await expect(log.append('b.log', line('two'))).rejects.toEqual(unavailable);
    expect(await log.append('b.log', line('three'))).toMatchObject({ file: 'b.log', offset: 0 });
    expect(afterPowerCut('b.log')).toBe('three\n');
    expect(afterPowerCut()).toBe('one\n');
  });

  it.each(['syncDirectory', 'write', 'datasync'])(
    'deletes at close a file that never got a record (%s fails)',
    async (failing) => {
      const log = await begun();
      failOnce(failing);
      await expect(log.append('b.log', line('two'))).rejects.toEqual(unavailable);
      await log.close();
      expect([...crash.files().keys()]).toEqual(['/log/a.log']);
      expect([...crash.afterPowerCut().files().keys()]).toEqual(['/log/a.log']);
    },
  );

  it('continues in the previous file if the next one cannot be created', async () => {
    const log = await begun();
    failOnce('create', diskFull());
    await expect(log.append('b.log', line('two'))).rejects.toEqual(unavailable);
    await log.append('a.log', line('three'));
    expect(afterPowerCut()).toBe('one\nthree\n');
  });

  it('truncates a torn record before it starts another file', async () => {
    const log = await begun();
    tearNext();
    await expect(log.append('a.log', line('two'))).rejects.toEqual(unavailable);
    await log.append('b.log', line('three'));
    expect(afterPowerCut()).toBe('one\n');
    expect(crash.afterPowerCut(1).text('/log/a.log')).toBe('one\n');
  });

  it.each(['truncate', 'datasync'] as const)(
    'starts no other file if the torn record cannot be truncated (%s)',
    async (operation) => {
      const log = await begun();
      tearNext(operation);
      await expect(log.append('a.log', line('two'))).rejects.toEqual(unavailable);
      await expect(log.append('b.log', line('three'))).rejects.toEqual(unavailable);
      expect(crash.paths()).toEqual(['/log/a.log']);
    },
  );

  it('rejects writes below the low-water mark, and recovers by itself', async () => {
    const log = open();
    disk.free = 999;
    await expect(log.append('a.log', line('one'))).rejects.toEqual(unavailable);
    await expect(log.checkSpace()).rejects.toEqual(unavailable);
    expect(crash.paths()).toEqual([]);
    disk.free = 1000;
    await log.checkSpace();
    await log.append('a.log', line('two'));
    expect(text()).toBe('two\n');
  });

  it('checks the free space for each sixteenth of the low-water mark, and at once after a failure', async () => {
    const log = await begun();
    disk.free = 999;
    let written = 4;
    for (; written < 1000 / 16; written += 4)
      if (
        await log.append('a.log', line('two')).then(
          () => false,
          () => true,
        )
      )
        break;
    expect(written).toBeGreaterThan(8);
    await expect(log.append('a.log', line('three'))).rejects.toEqual(unavailable);
    disk.free = 1000;
    await log.append('a.log', line('four'));
    disk.free = 999;
    disk.fault = (one) => (one === 'write' ? 0 : undefined);
    await expect(log.append('a.log', line('five'))).rejects.toEqual(unavailable);
    disk.fault = () => undefined;
    const before = text();
    await expect(log.append('a.log', line('six'))).rejects.toEqual(unavailable);
    expect(text()).toBe(before);
  });

  it('resumes a file where its valid records end', async () => {
    crash.plant('/log/a.log', 'one\ntorn');
    const log = open({ file: 'a.log', size: 4 });
    expect(await log.append('a.log', line('two'))).toMatchObject({ file: 'a.log', offset: 4 });
    expect(afterPowerCut()).toBe('one\ntwo\n');
  });

  it('does not recreate a file that it should resume', async () => {
    const log = open({ file: 'a.log', size: 4 });
    await expect(log.append('a.log', line('two'))).rejects.toEqual(unavailable);
    expect(crash.paths()).toEqual([]);
  });

  it('appends to an existing file', async () => {
    crash.plant('/log/b.log', 'one\n');
    const log = open();
    expect(await log.append('b.log', line('two'))).toMatchObject({ file: 'b.log', offset: 4 });
  });

  it('finishes pending writes at close, truncates a torn record, and rejects new records', async () => {
    const log = open();
    const record = log.append('a.log', line('one'));
    await log.close();
    expect(await record).toMatchObject({ file: 'a.log', offset: 0 });
    await expect(log.append('a.log', line('two'))).rejects.toEqual(unavailable);

    const other = open({ file: 'a.log', size: 4 });
    tearNext();
    await expect(other.append('a.log', line('two'))).rejects.toEqual(unavailable);
    await other.close();
    expect(afterPowerCut()).toBe('one\n');
    expect(disk.calls.filter((call) => call.startsWith('close'))).toHaveLength(2);
  });

  it('closes the file even if the torn record cannot be truncated, and rejects', async () => {
    const log = open();
    tearNext('truncate');
    await expect(log.append('a.log', line('two'))).rejects.toEqual(unavailable);
    await expect(log.close()).rejects.toThrow('planted');
    expect(disk.calls.at(-1)).toBe('close /log/a.log');
  });
});
