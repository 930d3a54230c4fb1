import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { Clock } from '../domain/clock.ts';
import { checkArgument } from '../options/check-options.ts';

interface Timer {
  dueMs: number;
  wake: () => void;
}

const epochMs = z.number('must be a finite number of epoch milliseconds');
const forwards = z
  .number('must be a finite number of milliseconds')
  .min(0, 'must not be negative: use set to move the clock backwards');

const checkForwards = (of: string, byMs: number) => checkArgument(of, 'byMs', forwards, byMs);

/** A clock that moves only by calls of `advance` and `set`. Times are Unix epoch milliseconds. */
export class TestClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs: number) {
    checkArgument('testClock', 'startMs', epochMs, startMs);
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, wake: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, wake };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Advances the time. Timers that become due fire in order, each at its own time. */
  advance(byMs: number): void {
    checkForwards('advance', byMs);
    const endMs = this.#nowMs + byMs;
    for (let next = this.#dueBy(endMs); next; next = this.#dueBy(endMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.wake();
    }
    this.#nowMs = endMs;
  }

  /**
   * Like `advance`, but after each timer waits `settleMs` of real time, so that requests begun by
   * one timer are answered before the next fires. With `advance`, their own time-outs fire first.
   */
  async advanceAsync(byMs: number, settleMs = 50): Promise<void> {
    checkForwards('advanceAsync', byMs);
    const endMs = this.#nowMs + byMs;
    for (let next = this.#dueBy(endMs); next; next = this.#dueBy(endMs)) {
      this.advance(Math.max(0, next.dueMs - this.#nowMs));
      await setTimeout(settleMs);
    }
    this.advance(endMs - this.#nowMs);
  }

  /** Sets the time, forwards or backwards, as NTP does. No timer fires. */
  set(nowMs: number): void {
    checkArgument('set', 'nowMs', epochMs, nowMs);
    this.#nowMs = nowMs;
  }

  /** Number of pending timers. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Number of timers that are due in exactly this many milliseconds. */
  waitingFor(delayMs: number): number {
    return [...this.#timers].filter((timer) => timer.dueMs === this.#nowMs + delayMs).length;
  }

  #dueBy(endMs: number): Timer | undefined {
    return [...this.#timers]
      .filter((timer) => timer.dueMs <= endMs)
      .sort((a, b) => a.dueMs - b.dueMs)[0];
  }
}

/** Returns a clock that stands still. Default start: noon UTC on 20 November 2026. */
export function testClock(startMs = Date.UTC(2026, 10, 20, 12)): TestClock {
  return new TestClock(startMs);
}
