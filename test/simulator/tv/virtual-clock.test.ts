import { describe, expect, it } from 'vitest';
import { hourMs, systemClock } from '../../../src/domain/clock.ts';
import { makeVirtualClock } from '../../../src/simulator/tv/virtual-clock.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';

const startMs = Date.UTC(2026, 0, 5);

describe('the clock of a fast TV', () => {
  it('jumps to its timers, each at its real time', async () => {
    const wall = new ManualClock();
    const clock = makeVirtualClock({ speed: 60, startMs, wall });
    const woken: number[] = [];
    for (const delayMs of [120_000, 60_000])
      clock.after(delayMs, () => woken.push(clock.now() - startMs));
    wall.advance(999);
    await turns();
    expect(woken).toEqual([]);
    wall.advance(1);
    await turns();
    expect(woken).toEqual([60_000]);
    wall.advance(1000);
    await turns();
    expect(woken).toEqual([60_000, 120_000]);
  });

  it('stops while it is held, and catches up afterwards timer by timer', async () => {
    const wall = new ManualClock();
    const clock = makeVirtualClock({ speed: 60, startMs, wall });
    const woken: number[] = [];
    for (const delayMs of [60_000, 120_000, 180_000])
      clock.after(delayMs, () => woken.push(clock.now() - startMs));
    let answer = () => {};
    const held = clock.hold(() => new Promise<void>((resolve) => (answer = resolve)));
    wall.advance(2500);
    await turns();
    expect({ woken, now: clock.now() }).toEqual({ woken: [], now: startMs });
    answer();
    await held;
    expect(clock.now()).toBe(startMs);
    await turns();
    expect(woken).toEqual([60_000, 120_000]);
    wall.advance(500);
    await turns();
    expect(woken).toEqual([60_000, 120_000, 180_000]);
  });

  it('delays the next step after a failed request by the whole real time', async () => {
    const wall = new ManualClock();
    const clock = makeVirtualClock({ speed: 60, startMs, wall });
    const woken: number[] = [];
    let fail = () => {};
    const work = () => new Promise<void>((_, reject) => (fail = () => reject(new Error('503'))));
    const held = clock.hold(work);
    clock.after(120_000, () => {
      woken.push(clock.now() - startMs);
      clock.after(60_000, () => woken.push(clock.now() - startMs));
    });
    wall.advance(2500);
    fail();
    await expect(held).rejects.toThrow('503');
    clock.after(60_000, () => woken.push(clock.now() - startMs));
    await turns();
    expect(woken).toEqual([120_000]);
    wall.advance(999);
    await turns();
    expect(woken).toEqual([120_000, 180_000]);
    wall.advance(1);
    await turns();
    expect(woken).toEqual([120_000, 180_000, 210_000]);
  });

  it('completes the consequences of one timer before the next', async () => {
    const clock = makeVirtualClock({ speed: Number.POSITIVE_INFINITY, startMs, wall: systemClock });
    const order: string[] = [];
    clock.after(1, async () => {
      for (let step = 0; step < 5; step++) await Promise.resolve();
      order.push('first');
      await clock.hold(() => turns(3));
      order.push('answered');
    });
    clock.after(1, () => order.push('second'));
    await turns();
    expect(order).toEqual(['first', 'answered', 'second']);
  });

  it('ignores cancelled timers', async () => {
    const wall = new ManualClock();
    const clock = makeVirtualClock({ speed: 2, startMs, wall });
    const woken: string[] = [];
    const cancel = clock.after(1000, () => woken.push('cancelled'));
    clock.after(4000, () => woken.push('later'));
    cancel();
    wall.advance(1500);
    await turns();
    expect({ woken, now: clock.now() }).toEqual({ woken: [], now: startMs });
    wall.advance(500);
    await turns();
    expect(woken).toEqual(['later']);
  });

  it('never waits at infinite speed, and never fires an infinite delay', async () => {
    const clock = makeVirtualClock({
      speed: Number.POSITIVE_INFINITY,
      startMs,
      wall: new ManualClock(),
    });
    let hours = 0;
    const wait = () => clock.after(hourMs, () => ++hours < 1000 && wait());
    wait();
    clock.after(Number.POSITIVE_INFINITY, () => (hours = Number.NaN));
    await turns(1010);
    expect({ hours, now: clock.now() }).toEqual({ hours: 1000, now: startMs + 1000 * hourMs });
  });
});

it('the clock at speed 1 is real time and cannot be held', async () => {
  const wall = new ManualClock();
  const clock = makeVirtualClock({ speed: 1, startMs: 0, wall });
  let woken = false;
  clock.after(10, () => (woken = true));
  await clock.hold(async () => wall.advance(10));
  expect({ now: clock.now(), woken }).toEqual({ now: wall.now(), woken: true });
});
