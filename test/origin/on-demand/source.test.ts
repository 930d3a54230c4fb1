import { beforeEach, describe, expect, it } from 'vitest';
import type { Screen } from '../../../src/domain/records/rows.ts';
import { makeOnDemandSource, type OnDemandOptions } from '../../../src/origin/on-demand/source.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';
import { item } from '../../support/service/content.ts';
import { screenRow } from '../../support/service/playlist-rows.ts';

interface Asked {
  screenId: string;
  signal: AbortSignal;
  answer(value: unknown): void;
  fail(error: Error): void;
}

let clock: ManualClock;
let asked: Asked[];
beforeEach(() => {
  clock = new ManualClock();
  asked = [];
});

/** A source whose calls wait for an answer from the test. */
function sourceOf(more: Partial<OnDemandOptions> = {}) {
  const ask: OnDemandOptions['ask'] = (screen, signal) =>
    new Promise((answer, fail) => asked.push({ screenId: screen.id, signal, answer, fail }));
  return makeOnDemandSource({
    clock,
    ask,
    ttlMs: 10_000,
    timeoutMs: 2000,
    concurrency: 20,
    ...more,
  });
}

const playlist = (more = {}) => ({ items: [item()], ...more });
const settled = async (promise: Promise<unknown>) => {
  let state = 'pending';
  promise.then(
    () => (state = 'fulfilled'),
    () => (state = 'rejected'),
  );
  await turns();
  return state;
};

describe('the on-demand source', () => {
  it('is called once for concurrent requests for one screen, and not while the answer is cached', async () => {
    const source = sourceOf();
    const screen = screenRow();
    const all = Array.from({ length: 10_000 }, () => source.ask(screen));
    await turns();
    expect(asked.length).toBe(1);
    asked[0]?.answer(playlist());
    const answers = await Promise.all(all);
    expect(new Set(answers).size).toBe(1);
    clock.advance(9999);
    expect(await source.ask(screen)).toBe(answers[0]);
    expect(asked.length).toBe(1);
    clock.advance(1);
    source.ask(screen).catch(() => undefined);
    await turns();
    expect(asked.length).toBe(2);
  });

  describe('at a refresh', () => {
    const startRefreshes = async (clockMs = 200) => {
      await turns();
      clock.advance(clockMs);
      await turns();
    };

    it('is called once for concurrent refreshes, past the cache, and caches the answer', async () => {
      const source = sourceOf();
      const screen = screenRow();
      const cached = source.ask(screen);
      await turns();
      asked[0]?.answer(null);
      await cached;
      const all = Array.from({ length: 100 }, () => source.ask(screen, { isRefresh: true }));
      await startRefreshes();
      expect(asked.length).toBe(2);
      asked[1]?.answer(playlist());
      const [fresh] = await Promise.all(all);
      expect(fresh?.content).not.toBeNull();
      expect(await source.ask(screen)).toBe(fresh);
      expect(asked.length).toBe(2);
    });

    it('is called past calls in flight, whose later answers are not cached', async () => {
      const source = sourceOf();
      const screen = screenRow();
      const old = source.ask(screen);
      const first = source.ask(screen, { isRefresh: true });
      await startRefreshes();
      const second = source.ask(screen, { isRefresh: true });
      await startRefreshes();
      expect(asked.length).toBe(3);
      const joined = source.ask(screen);
      asked[2]?.answer(playlist());
      const fresh = await second;
      expect(await joined).toBe(fresh);
      asked[1]?.answer(null);
      asked[0]?.answer(null);
      expect(await old).not.toBe(fresh);
      expect(await first).not.toBe(fresh);
      expect(await source.ask(screen)).toBe(fresh);
    });

    it('keeps three quarters of its concurrent calls for TVs', async () => {
      const source = sourceOf({ concurrency: 4 });
      const refreshes = [1, 2, 3].map(() => source.ask(screenRow(), { isRefresh: true }));
      await startRefreshes();
      expect(asked.length).toBe(1);
      source.ask(screenRow()).catch(() => undefined);
      await turns();
      expect(asked.length).toBe(2);
      asked[0]?.answer(null);
      await turns();
      expect(asked.length).toBe(3);
      asked[2]?.answer(null);
      await turns();
      asked[3]?.answer(null);
      expect(await Promise.all(refreshes)).toHaveLength(3);
    });

    it('refuses further refreshes while 16 of a tenant or 32 wait, but not of the same screens', async () => {
      const source = sourceOf();
      const tenants = ['one', 'other'];
      const screens = tenants.flatMap((tenantId) =>
        Array.from({ length: 16 }, () => screenRow({ tenantId })),
      );
      const refresh = (screen: Screen) => source.ask(screen, { isRefresh: true });
      const expectRefusal = (tenantId: string) =>
        expect(refresh(screenRow({ tenantId }))).rejects.toMatchObject({ code: 'origin_busy' });
      for (const [index, screen] of screens.entries()) {
        if (index === 16) await expectRefusal('one');
        refresh(screen).catch(() => undefined);
      }
      await expectRefusal('third');
      const shared = source.ask(screens[0] ?? screenRow(), { isRefresh: true });
      await startRefreshes();
      asked[0]?.answer(null);
      expect(await shared).toMatchObject({ content: null });
    });

    it('does not open the breaker when refreshes fail', async () => {
      const source = sourceOf();
      for (let failures = 0; failures < 10; failures++) {
        const failing = source.ask(screenRow(), { isRefresh: true });
        const outcome = expect(failing).rejects.toThrow('planted');
        await startRefreshes();
        asked.at(-1)?.fail(new Error('planted'));
        await outcome;
      }
      expect(source.breaker.isOpen).toBe(false);
    });

    it('is not called while the breaker is open', async () => {
      const source = sourceOf();
      for (let failures = 0; failures < 5; failures++) {
        const failing = source.ask(screenRow());
        await turns();
        asked.at(-1)?.fail(new Error('planted'));
        await expect(failing).rejects.toThrow('planted');
      }
      const refused = source.ask(screenRow(), { isRefresh: true });
      const outcome = expect(refused).rejects.toMatchObject({ code: 'origin_skipped' });
      await startRefreshes();
      await outcome;
      expect(asked.length).toBe(5);
    });
  });

  it('is called concurrently for different screens, up to the limit', async () => {
    const source = sourceOf({ concurrency: 3 });
    const all = Array.from({ length: 10 }, () => source.ask(screenRow()));
    for (let answered = 0; answered < 10; answered++) {
      await turns();
      expect(asked.length).toBe(Math.min(10, answered + 3));
      asked[answered]?.answer(playlist());
    }
    await Promise.all(all);
  });

  it('times out a little early, to leave time for the next origin, aborts the call and frees its slot', async () => {
    const source = sourceOf({ concurrency: 1 });
    const first = source.ask(screenRow());
    await turns();
    clock.advance(1899);
    expect(await settled(first)).toBe('pending');
    expect(asked[0]?.signal.aborted).toBe(false);
    clock.advance(1);
    await expect(first).rejects.toMatchObject({ code: 'origin_timeout' });
    expect(asked[0]?.signal.aborted).toBe(true);
    const second = source.ask(screenRow());
    await turns();
    expect(asked.length).toBe(2);
    asked[1]?.answer(null);
    expect(await second).toEqual({ content: null });
  });

  it('includes the wait for a slot in the time-out: origin_busy, which does not count as down', async () => {
    const source = sourceOf({ concurrency: 1 });
    const all = Array.from({ length: 20 }, () => source.ask(screenRow()));
    const outcomes = Promise.allSettled(all);
    await turns();
    clock.advance(2000);
    const codes = (await outcomes).map((one) =>
      one.status === 'rejected' ? one.reason.code : 'answered',
    );
    expect(codes).toEqual(['origin_timeout', ...Array.from({ length: 19 }, () => 'origin_busy')]);
    expect(asked.length).toBe(1);
    expect(source.breaker.isOpen).toBe(false);
  });

  it.each([
    ['a failure', 'planted', () => asked[0]?.fail(Object.assign(new Error(), { code: 'planted' }))],
    ['an answer after the time-out', 'origin_timeout', () => clock.advance(2000)],
  ])('does not cache %s', async (_, code, end) => {
    const source = sourceOf();
    const screen = screenRow();
    const first = source.ask(screen);
    await turns();
    end();
    await expect(first).rejects.toMatchObject({ code });
    asked[0]?.answer(playlist());
    await turns();
    source.ask(screen).catch(() => undefined);
    await turns();
    expect(asked.length).toBe(2);
  });

  it('that hangs lets no request wait from then on, neither in a call nor for a slot, and drops queued calls', async () => {
    const source = sourceOf({ concurrency: 6 });
    const early = Promise.allSettled(Array.from({ length: 5 }, () => source.ask(screenRow())));
    await turns();
    clock.advance(1000);
    const late = Array.from({ length: 10 }, () => source.ask(screenRow()));
    const outcomes = Promise.allSettled(late);
    await turns();
    expect(asked.length).toBe(6);
    clock.advance(1000);
    await early;
    expect((await outcomes).map((one) => one.status === 'rejected' && one.reason.code)).toEqual(
      late.map(() => 'origin_skipped'),
    );
    await turns();
    expect(source.breaker.isOpen).toBe(true);
    clock.advance(1000);
    await turns();
    expect(source.breaker.isOpen).toBe(true);
    // Slots that became free at that moment may have been taken.
    expect(asked.length).toBeLessThanOrEqual(11);
  });
  it('that hangs is called again at most four seconds after it recovered', async () => {
    const source = sourceOf();
    const hung = Promise.allSettled(Array.from({ length: 5 }, () => source.ask(screenRow())));
    await turns();
    clock.advance(2000);
    await hung;
    // Worst case: a probe has just begun, and hangs.
    clock.advance(2000);
    await source.ask(screenRow()).catch(() => undefined);
    await turns();
    clock.advance(2000);
    await turns();
    clock.advance(2000);
    const screen = screenRow();
    await source.ask(screen).catch(() => undefined);
    await turns();
    expect(asked.length).toBe(7);
    asked[6]?.answer(playlist());
    await turns();
    expect((await source.ask(screen)).content).not.toBeNull();
    const other = source.ask(screenRow());
    await turns();
    asked[7]?.answer(null);
    expect(await other).toEqual({ content: null });
  });

  describe('answers', () => {
    const answered = async (value: unknown) => {
      const source = sourceOf();
      const screen = screenRow();
      const answer = source.ask(screen);
      await turns();
      asked.at(-1)?.answer(typeof value === 'function' ? value(screen) : value);
      return { source, answer: answer.then(({ content }) => content) };
    };

    it('items, with an optional expiry in seconds or milliseconds', async () => {
      const items = [item({ campaignId: 'kept', title: 'Grüße' })];
      const { answer } = await answered({ items, validUntil: 1_900_000_000 });
      const content = await answer;
      expect(JSON.parse(content?.items ?? '')).toEqual(items);
      expect(content?.validUntil).toBe(1_900_000_000_000);
      expect(
        (await (await answered({ items, validUntil: 1_900_000_000_500 })).answer)?.validUntil,
      ).toBe(1_900_000_000_500);
      expect((await (await answered({ items, validUntil: null })).answer)?.validUntil).toBeNull();
      expect((await (await answered({ items })).answer)?.validUntil).toBeNull();
    });

    it('a whole playlist', async () => {
      const whole = (screen: { id: string }) => ({
        ...playlist({ validUntil: 1_900_000_000 }),
        id: 'any',
        tenantId: 'any',
        screenId: screen.id.toUpperCase(),
        status: 'active',
        version: 17,
      });
      expect((await (await answered(whole)).answer)?.validUntil).toBe(1_900_000_000_000);
    });

    it.each(['withdrawn', 'expired', 'superseded'])('none, as a %s playlist', async (status) => {
      expect(await (await answered(playlist({ status }))).answer).toBeNull();
    });

    it.each<[string, unknown]>([
      ['nothing', undefined],
      ['a text', 'playlist'],
      ['a list', [item()]],
      ['no items', {}],
      ['an item without a duration', { items: [item({ duration: undefined })] }],
      ['an end that is no time', playlist({ validUntil: '2026-11-20' })],
      [
        'a playlist of another screen',
        playlist({ screenId: '7b0c5a1e-3f2d-4e6b-8a9c-0d1e2f3a4b5c' }),
      ],
      ['an unknown status', playlist({ status: 'paused' })],
    ])('that are %s are rejected, and do not open the breaker', async (_, value) => {
      const { source, answer } = await answered(value);
      await expect(answer).rejects.toMatchObject({ code: 'origin_bad_answer' });
      for (let n = 1; n < 10; n++) {
        const again = source.ask(screenRow());
        await turns();
        asked[n]?.answer(value);
        await expect(again).rejects.toMatchObject({ code: 'origin_bad_answer' });
      }
      expect(source.breaker.isOpen).toBe(false);
    });
  });
});
