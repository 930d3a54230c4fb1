import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../../src/domain/clock.ts';
import { LastActivityTable } from '../../../../src/store/json/activity/last-activity.ts';
import { ManualClock } from '../../../support/runtime/manual-clock.ts';
import { guid } from '../../sample-batch.ts';
import { CrashDisk } from '../crash-disk.ts';
import { contextOn, documentOf, openParts } from '../part-rig.ts';

const device = (n: number) => guid('devi', n);
const token = (n: number) => guid('toke', n);

async function opened(disk = new CrashDisk(), clock = new ManualClock()) {
  const context = contextOn(disk, clock);
  const activity = new LastActivityTable(clock);
  const rig = await openParts(context, [], [activity]);
  const documents = () => disk.paths().filter((path) => path.startsWith('/data/documents/marks'));
  return { disk, clock, activity, rig, documents };
}

describe('touch of last activity', () => {
  it('returns copies', async () => {
    const { activity } = await opened();
    activity.touch('device', device(1), { lastSeenAt: 1 });
    activity.marks('device', device(1)).lastSeenAt = 9;
    expect(activity.marks('device', device(1))).toEqual({ lastSeenAt: 1, seenSince: 1 });
    expect(activity.marks('token', device(1))).toEqual({});
  });
});

describe('the documents of last activity', () => {
  it('are written at most once a minute, and only if they changed', async () => {
    const { clock, activity, rig, documents } = await opened();
    activity.touch('device', device(1), { lastSeenAt: 1 });
    await rig.checkpoint();
    expect(documents()).toEqual([]);
    clock.advance(minuteMs);
    await rig.checkpoint();
    const first = documents();
    expect(first).toEqual([expect.stringMatching(/marks-[0-3][0-9a-f]\.\d+\.json$/)]);
    activity.touch('device', device(1), { lastSeenAt: 2 });
    await rig.checkpoint();
    clock.advance(minuteMs - 1);
    await rig.checkpoint();
    expect(documents()).toEqual(first);
    clock.advance(1);
    await rig.checkpoint();
    expect(documents()).not.toEqual(first);
    expect(documents()).toHaveLength(1);
    const second = documents();
    clock.advance(minuteMs);
    await rig.checkpoint();
    expect(documents()).toEqual(second);
  });

  it('are written when the clock has stepped back', async () => {
    const { clock, activity, rig, documents } = await opened();
    activity.touch('device', device(1), { lastSeenAt: 1 });
    clock.set(0);
    await rig.checkpoint();
    expect(documents()).toHaveLength(1);
  });

  it('are complete after the stop', async () => {
    const { disk, activity, rig } = await opened();
    for (let n = 0; n < 300; n++) {
      activity.touch('device', device(n), { lastSeenAt: n });
      activity.touch('token', token(n), { lastUsedAt: n });
    }
    activity.close();
    await rig.close();
    const next = await opened(disk);
    for (let n = 0; n < 300; n++) {
      expect(next.activity.marks('device', device(n))).toEqual({ lastSeenAt: n, seenSince: n });
      expect(next.activity.marks('token', token(n))).toEqual({ lastUsedAt: n });
    }
    expect(next.activity.dirty()).toEqual([]);
  });

  it('are dirty again after a failed write', async () => {
    const { disk, clock, activity, rig, documents } = await opened();
    activity.touch('device', device(1), { lastSeenAt: 1 });
    clock.advance(minuteMs);
    disk.before = (operation) => {
      if (operation === 'rename') throw new Error('EIO');
    };
    await expect(rig.checkpoint()).rejects.toThrow('EIO');
    disk.before = () => {};
    clock.advance(minuteMs);
    await rig.checkpoint();
    expect(documents()).toHaveLength(1);
  });

  it('have human-readable lines', async () => {
    const { activity } = await opened();
    const known = `{"kind":"token","id":"${token(1)}","lastUsedAt":7}\n`;
    await activity.load('marks-00', documentOf(known, { seq: 0 }));
    activity.touch('device', device(1), { lastSeenAt: 1 });
    activity.close();
    const lines = await Promise.all(
      activity.dirty().map(async (name) => (await activity.render(name))?.lines as string[]),
    );
    expect(lines.flat()).toContain(
      `{"kind":"device","id":"${device(1)}","lastSeenAt":1,"seenSince":1}`,
    );
  });
});

describe('forget of last activity', () => {
  it('deletes the activity, also from the documents', async () => {
    const { disk, clock, activity, rig, documents } = await opened();
    activity.touch('device', device(1), { lastSeenAt: 1 });
    clock.advance(minuteMs);
    await rig.checkpoint();
    activity.forget('token', token(1));
    activity.forget('token', device(1));
    expect(activity.marks('device', device(1))).toEqual({ lastSeenAt: 1, seenSince: 1 });
    activity.forget('device', device(1));
    expect(activity.marks('device', device(1))).toEqual({});
    activity.close();
    await rig.close();
    expect(documents()).toEqual([]);
    expect((await opened(disk)).activity.marks('device', device(1))).toEqual({});
  });
});
