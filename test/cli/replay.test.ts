import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { item } from '../support/content.ts';
import { quickFleet } from '../support/quick-fleet.ts';
import { recordWhile } from '../support/record-while.ts';
import { startService, type TestService } from '../support/service.ts';
import { runCli } from './run-cli.ts';

let recorded: TestService<Clock>;
let fresh: TestService<Clock>;
beforeAll(async () => {
  recorded = await startService<Clock>({ clock: systemClock });
  fresh = await startService<Clock>({ clock: systemClock });
});

/** Returns the number of stored events by type and creative. */
async function storedEvents(service: TestService<Clock>, screenIds: readonly string[]) {
  const counts: Record<string, number> = {};
  let cursor = '';
  do {
    const { body } = await service.manage('GET', `/v1/events?limit=200${cursor}`);
    for (const { screenId, event } of body.items) {
      if (!screenIds.includes(screenId)) continue;
      const name = `${event.type} ${event.creativeId ?? ''}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  return counts;
}

const replay = (file: string, argv: readonly string[], service = fresh, more: object = {}) =>
  runCli(['replay', file, '--speed', 'max', ...argv], {
    ...more,
    env: { SIGNAGE_URL: service.url },
  });

/** Creates a screen with a playlist and a code in a service. */
async function place(service: TestService<Clock>, items: object[] = [item()]) {
  const { code, screenId } = await service.code();
  await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items });
  return { code, screenId };
}

describe('signage replay', () => {
  it('of a signage tv stores the same events, and every answer is as recorded', async () => {
    const items = [item(), item()];
    const then = await place(recorded, items);
    const { file } = await recordWhile(recorded.url, async (url) => {
      const flags = ['--speed', '600', '--duration', '2s', '--rotate-every', '5m'];
      await runCli(['tv', '--code', then.code, ...flags], { env: { SIGNAGE_URL: url } });
    });
    const now = await place(fresh, items);
    const run = await replay(file, ['--code', now.code, '-o', 'json']);
    expect(run.json.filter(({ differs }: { differs: boolean }) => differs)).toEqual([]);
    expect(run.code).toBe(0);
    const before = await storedEvents(recorded, [then.screenId]);
    expect(Object.keys(before).length).toBeGreaterThan(2);
    expect(await storedEvents(fresh, [now.screenId])).toEqual(before);
    expect(run.stdout + run.stderr).not.toContain(now.code);
  });

  it('of a simulated fleet with faults stores the same events', async () => {
    const count = 3;
    const screens = await Promise.all(Array.from({ length: count }, () => place(recorded)));
    const faults = [
      'lost-answer:events:20%',
      'lost-request:all:10%',
      'duplicate:events:20%',
      'cut-answer:all:10%',
    ];
    const { file } = await recordWhile(recorded.url, async (url) => {
      const codes = screens.map(({ code }) => code);
      await quickFleet({ url, codes, count, faults, rotateEveryMs: 3_600_000, compare: false });
    });
    const now = await Promise.all(Array.from({ length: count }, () => place(fresh)));
    const stdin = now.map(({ code }) => code).join('\n');
    const run = await replay(file, ['--code', '-', '-o', 'json'], fresh, { stdin });
    expect(run.json.filter(({ differs }: { differs: boolean }) => differs)).toEqual([]);
    expect(run.code).toBe(0);
    const ids = (places: { screenId: string }[]) => places.map(({ screenId }) => screenId);
    const before = await storedEvents(recorded, ids(screens));
    expect(Object.values(before).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(100);
    expect(await storedEvents(fresh, ids(now))).toEqual(before);
  });
});
