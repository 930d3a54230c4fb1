import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dayMs, systemClock } from '../../src/domain/clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the system clock', () => {
  it('wakes after delays that are too long for a single timer', () => {
    const woken: string[] = [];
    systemClock.after(60 * dayMs, () => woken.push('60 days'));
    const cancel = systemClock.after(60 * dayMs, () => woken.push('cancelled'));
    systemClock.after(Number.POSITIVE_INFINITY, () => woken.push('never'));
    vi.advanceTimersByTime(59 * dayMs);
    expect(woken).toEqual([]);
    cancel();
    vi.advanceTimersByTime(dayMs + 10);
    expect(woken).toEqual(['60 days']);
  });

  it('works where a timer is a number', () => {
    const woken: string[] = [];
    vi.stubGlobal('setTimeout', (wake: () => void) => {
      wake();
      return 1;
    });
    systemClock.after(10, () => woken.push('woken'));
    vi.unstubAllGlobals();
    expect(woken).toEqual(['woken']);
  });
});
