import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, minuteMs, secondMs, systemClock } from '../../../src/domain/clock.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { video, virtualTv } from '../../support/tv/virtual-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

const items = [video(1, 10), video(2, 20)];
const startMs = Date.UTC(2026, 0, 1);

async function tvWith() {
  const { code, screenId } = await service.code();
  await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items });
  const tv = virtualTv({ url: service.url, nextCode: async () => code, startMs });
  const told = (type: string) =>
    tv.told.events
      .filter((event) => event.type === type)
      .map(({ timestamp, creativeId, duration, hidden }) => [
        timestamp - startMs / secondMs,
        creativeId ? Number(String(creativeId).at(-1)) : (hidden ?? false),
        ...(duration === undefined ? [] : [duration]),
      ]);
  return { ...tv, eventsOf: told };
}

describe('A player whose screen is hidden', () => {
  it('plays and counts nothing for 10 minutes, and goes on at once with the item that it had', async () => {
    const tv = await tvWith();
    tv.at(15 * secondMs, () => tv.player.setHidden(true));
    tv.at(15 * secondMs + 10 * minuteMs, () => tv.player.setHidden(false));
    await tv.player.run(undefined, 650 * secondMs);
    expect(tv.eventsOf('impression')).toEqual([
      [10, 1, 10],
      [15, 2, 5],
      [635, 2, 20],
      [645, 1, 10],
      [650, 2, 5],
    ]);
    expect(tv.eventsOf('shown').map(([second]) => second)).toEqual([0, 615]);
    expect(tv.told.phases).toEqual(['registering', 'dark', 'playing', 'dark', 'playing', 'dark']);
  });

  it('says so at once, with each heartbeat and after a start, and that it no longer is', async () => {
    const tv = await tvWith();
    tv.player.setHidden(true);
    tv.at(150 * secondMs, () => tv.player.setHidden(false));
    tv.at(155 * secondMs, () => tv.player.setHidden(true));
    await tv.player.run(undefined, 200 * secondMs);
    expect(tv.eventsOf('app_started')).toEqual([[0, true]]);
    const heartbeats = tv.eventsOf('heartbeat');
    expect(heartbeats.filter(([, isHidden]) => isHidden === false)).toEqual([[150, false]]);
    expect(heartbeats.map(([second]) => second)).toEqual([60, 120, 150, 155, 180]);
    expect(tv.eventsOf('impression')).toEqual([[155, 1, 5]]);
  });

  it('shows a playlist that was published meanwhile from its first item', async () => {
    const tv = await tvWith();
    tv.at(15 * secondMs, () => tv.player.setHidden(true));
    tv.at(20 * secondMs, () =>
      service.manage('PUT', `/v1/screens/${tv.player.state.screenId}/playlist`, {
        items: [video(3, 30), video(2, 20)],
      }),
    );
    tv.at(7 * minuteMs, () => tv.player.setHidden(false));
    await tv.player.run(undefined, 7.5 * minuteMs);
    expect(tv.eventsOf('impression').slice(2)).toEqual([[450, 3, 30]]);
  });

  it('shows nothing of a playlist that has ended meanwhile', async () => {
    const tv = await tvWith();
    tv.at(15 * secondMs, () => tv.player.setHidden(true));
    tv.at(20 * secondMs, () =>
      service.manage('DELETE', `/v1/screens/${tv.player.state.screenId}/playlist`),
    );
    tv.at(7 * minuteMs, () => tv.player.setHidden(false));
    await tv.player.run(undefined, 8 * minuteMs);
    expect(tv.eventsOf('impression')).toHaveLength(2);
    expect(tv.told.shown.at(-1)).toBeUndefined();
  });

  it('interrupts its items 50 times, and counts only what was visible', async () => {
    const tv = await tvWith();
    for (let time = 0; time < 50; time++) {
      tv.at((5 + 10 * time) * secondMs, () => tv.player.setHidden(true));
      tv.at((10 + 10 * time) * secondMs, () => tv.player.setHidden(false));
    }
    await tv.player.run(undefined, 505 * secondMs);
    const visible = tv.eventsOf('impression');
    expect(visible.map(([, , seconds]) => seconds)).toEqual(Array.from({ length: 51 }, () => 5));
    expect(visible.map(([second]) => second)).toEqual(
      Array.from({ length: 51 }, (_, time) => 5 + 10 * time),
    );
    expect(tv.told.failures).toEqual([]);
  });
});
