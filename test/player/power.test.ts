import { beforeAll, describe, expect, it } from 'vitest';
import type { Requester } from '../../src/client/requester.ts';
import { type Clock, minuteMs, secondMs, systemClock } from '../../src/domain/clock.ts';
import { type PlayerMemory, type PlayerState, ramMemory } from '../../src/player/state.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { tvPlace } from '../support/service/tv-place.ts';
import { video, virtualTv } from '../support/tv/virtual-tv.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

async function place() {
  const { code, screenId, events } = await tvPlace(service, [video(1, 10), video(2, 25)]);
  return { nextCode: async () => code, stored: events, screenId };
}

/** Counts requests and saves. */
function watch() {
  const counts = { sent: 0, saved: 0 };
  const inner = ramMemory();
  const memory: PlayerMemory = {
    load: inner.load,
    async save(state) {
      counts.saved++;
      await inner.save(state);
    },
  };
  const wire =
    (send: Requester): Requester =>
    (url, parts) => {
      counts.sent++;
      return send(url, parts);
    };
  return { counts, memory, wire };
}

describe('A power cut', () => {
  it('ends the player at once: nothing is sent, saved or reported any more', async () => {
    const { nextCode, stored } = await place();
    const { counts, memory, wire } = watch();
    const cut = new AbortController();
    const tv = virtualTv({ url: service.url, nextCode, memory, wire });
    tv.at(90 * secondMs, () => cut.abort());
    expect(await tv.player.run(cut.signal)).toEqual({ reason: 'aborted' });
    const then = { ...counts };
    const events = tv.told.events.length;
    expect(tv.told.events.some(({ type }) => type === 'app_stopped')).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(counts).toEqual(then);
    expect(tv.told.events).toHaveLength(events);
    // The item shown at the cut is not reported, because nobody recorded how long it played.
    expect(
      tv.told.events
        .filter(({ type }) => type === 'impression')
        .every(({ duration }) => duration === 10 || duration === 25),
    ).toBe(true);
    expect((await stored()).length).toBeLessThan(events);
  });

  it('aborts pending calls', async () => {
    const { nextCode } = await place();
    const cut = new AbortController();
    const wire =
      (send: Requester): Requester =>
      (url, parts) => {
        if (url.endsWith('/playlist')) setImmediate(() => cut.abort());
        return url.endsWith('/playlist')
          ? new Promise((_, reject) =>
              parts.signal.addEventListener('abort', () => reject(new Error('Broken off.'))),
            )
          : send(url, parts);
      };
    const tv = virtualTv({ url: service.url, nextCode, wire });
    expect(await tv.player.run(cut.signal)).toEqual({ reason: 'aborted' });
    expect(tv.pace('getPlaylist')).toEqual([]);
    expect(tv.told.failures).toEqual([]);
  });

  it('before the start prevents all calls', async () => {
    const { counts, memory, wire } = watch();
    const tv = virtualTv({ url: service.url, memory, wire, nextCode: async () => 'ABCD2345' });
    expect(await tv.player.run(AbortSignal.abort())).toEqual({ reason: 'aborted' });
    expect(counts).toEqual({ sent: 0, saved: 0 });
  });

  it('is survived: the TV plays at once, sends unsent events and is not paired again', async () => {
    const { nextCode, stored, screenId } = await place();
    const memory = ramMemory();
    const cut = new AbortController();
    const first = virtualTv({ url: service.url, nextCode, memory });
    first.at(85 * secondMs, () => cut.abort());
    await first.player.run(cut.signal);
    let isDown = true;
    const wire =
      (send: Requester): Requester =>
      (url, parts) =>
        isDown ? Promise.reject(new Error('no network')) : send(url, parts);
    const second = virtualTv({
      url: service.url,
      memory,
      wire,
      startMs: first.clock.now() + minuteMs,
    });
    second.at(5 * minuteMs, () => {
      isDown = false;
    });
    const ended = await second.player.run(undefined, 20 * minuteMs);
    expect(ended).toEqual({ reason: 'stopped' });
    expect(second.player.state).toMatchObject({ screenId, deviceId: first.player.state.deviceId });
    expect(second.told.shown[0]).toMatchObject({ creativeId: video(1, 10).creativeId });
    expect(await stored()).toEqual([...first.told.events, ...second.told.events]);
  });

  it('between a batch and its acknowledgement does not store it twice', async () => {
    const { nextCode, stored } = await place();
    const memory = ramMemory();
    const cut = new AbortController();
    const wire =
      (send: Requester): Requester =>
      async (url, parts) => {
        const reply = await send(url, parts);
        if (url.endsWith('/events')) cut.abort();
        return reply;
      };
    const first = virtualTv({ url: service.url, nextCode, memory, wire });
    await first.player.run(cut.signal);
    const { batch, queue } = (await memory.load()) as PlayerState;
    expect(batch?.events).not.toHaveLength(0);
    expect(await stored()).toEqual(batch?.events);
    const second = virtualTv({ url: service.url, memory, startMs: first.clock.now() });
    await second.player.run(undefined, secondMs);
    expect(second.told.sent[0]).toBe(batch);
    const sent = [...(batch?.events ?? []), ...queue, ...second.told.events];
    expect(await stored()).toEqual(sent);
  });
});

describe('A stopped player', () => {
  it('reports the current item and app_stopped, and sends all queued events', async () => {
    const { nextCode, stored } = await place();
    const tv = virtualTv({ url: service.url, nextCode });
    tv.at(17 * secondMs, () => tv.player.stop());
    expect(await tv.player.run()).toEqual({ reason: 'stopped' });
    expect(tv.told.events.slice(-2)).toEqual([
      expect.objectContaining({
        type: 'impression',
        creativeId: video(2, 25).creativeId,
        duration: 7,
      }),
      expect.objectContaining({ type: 'app_stopped' }),
    ]);
    expect(await stored()).toEqual(tv.told.events);
    expect(await tv.memory.load()).toMatchObject({ queue: [], batch: undefined });
  });

  it('saves events that it cannot send', async () => {
    const { nextCode, stored } = await place();
    let isDown = false;
    const wire =
      (send: Requester): Requester =>
      (url, parts) =>
        isDown ? Promise.reject(new Error('no network')) : send(url, parts);
    const tv = virtualTv({ url: service.url, nextCode, wire });
    tv.at(15 * secondMs, () => {
      isDown = true;
      tv.player.stop();
    });
    expect(await tv.player.run()).toEqual({ reason: 'stopped' });
    const { queue, batch } = (await tv.memory.load()) as PlayerState;
    expect([...(batch?.events ?? []), ...queue].at(-1)).toMatchObject({ type: 'app_stopped' });
    isDown = false;
    const again = virtualTv({ url: service.url, memory: tv.memory });
    await again.player.run(undefined, secondMs);
    expect(await stored()).toEqual([...tv.told.events, ...again.told.events]);
  });

  it('that has not run yet ends at once, and runs the next time', async () => {
    const { nextCode } = await place();
    const tv = virtualTv({ url: service.url, nextCode });
    tv.player.stop();
    expect(await tv.player.run()).toEqual({ reason: 'stopped' });
    expect(tv.told.answers).toEqual([]);
    await tv.player.run(undefined, secondMs);
    expect(tv.player.state.deviceId).toBeDefined();
  });

  it('keeps events reported before it runs', async () => {
    const { nextCode, stored } = await place();
    const tv = virtualTv({ url: service.url, nextCode });
    await tv.player.run(undefined, secondMs);
    const again = virtualTv({ url: service.url, memory: tv.memory });
    const log = { type: 'log', timestamp: Math.floor(Date.now() / 1000) };
    again.player.report(log);
    await again.player.run(undefined, secondMs);
    expect(await stored()).toContainEqual({ ...log, seq: expect.any(Number) });
  });

  it('keeps the process alive only while it runs, and continues after a failed save', async () => {
    const { nextCode } = await place();
    let saves = 0;
    const inner = ramMemory();
    const memory: PlayerMemory = {
      load: inner.load,
      save: async (state) =>
        ++saves % 3 === 0 ? Promise.reject(new Error('The disk is full.')) : inner.save(state),
    };
    const tv = virtualTv({ url: service.url, nextCode, memory });
    await tv.player.run(undefined, 5 * minuteMs);
    expect(tv.told.failures.map(({ message }) => message)).toContain('The disk is full.');
    expect(tv.told.acknowledged.flatMap(({ batch }) => batch.events)).toEqual(tv.told.events);
  });
});
