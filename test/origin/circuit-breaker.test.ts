import { beforeEach, describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../src/origin/circuit-breaker.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { turns } from '../support/runtime/turns.ts';

let clock: ManualClock;
let breaker: CircuitBreaker;
let calls: number;
beforeEach(() => {
  clock = new ManualClock();
  breaker = new CircuitBreaker({ clock });
  calls = 0;
});

const succeed = () => breaker.run(async () => ++calls);
const fail = (error: Error = new Error('injected')) =>
  breaker.run(async () => {
    calls++;
    throw error;
  });
const failures = async (count: number) => {
  for (let n = 0; n < count; n++) await fail().catch(() => undefined);
};

describe('the circuit breaker', () => {
  it('passes results and errors through while closed', async () => {
    expect(await succeed()).toBe(1);
    await expect(fail()).rejects.toThrow('injected');
    expect(breaker.isOpen).toBe(false);
  });

  it('opens after five failures in a row, and then makes no calls', async () => {
    await failures(4);
    expect(breaker.isOpen).toBe(false);
    await failures(1);
    expect(breaker.isOpen).toBe(true);
    await expect(succeed()).rejects.toMatchObject({ code: 'origin_skipped' });
    expect(calls).toBe(5);
  });

  it('does not open if one of them succeeds in between', async () => {
    for (let n = 0; n < 5; n++) {
      await failures(4);
      await succeed();
    }
    expect(breaker.isOpen).toBe(false);
  });

  it('makes one probe after two seconds, and rejects its caller at once', async () => {
    await failures(5);
    clock.advance(1999);
    await expect(succeed()).rejects.toMatchObject({ code: 'origin_skipped' });
    expect(calls).toBe(5);
    clock.advance(1);
    let finish = (_: number) => {};
    const probe = breaker.run(() => new Promise<number>((resolve) => (finish = resolve)));
    await expect(probe).rejects.toMatchObject({ code: 'origin_skipped' });
    await expect(succeed()).rejects.toMatchObject({ code: 'origin_skipped' });
    expect(calls).toBe(5);
    expect(breaker.isOpen).toBe(true);
    finish(1);
    await turns();
    expect(breaker.isOpen).toBe(false);
    expect(await succeed()).toBe(6);
  });

  it('waits two more seconds after each failed probe', async () => {
    await failures(5);
    for (let n = 0; n < 3; n++) {
      clock.advance(2000);
      await failures(1);
      await turns();
      expect(calls).toBe(6 + n);
      await failures(3);
      expect(calls).toBe(6 + n);
    }
    expect(clock.waiting).toBe(1);
  });

  it('closes when an earlier call succeeds late, and cancels its timer', async () => {
    let finish = (_: number) => {};
    const late = breaker.run(() => new Promise<number>((resolve) => (finish = resolve)));
    await failures(5);
    finish(1);
    await late;
    expect(breaker.isOpen).toBe(false);
    expect(clock.waiting).toBe(0);
  });

  describe('with a classification of errors', () => {
    const classify = (error: unknown) => {
      const { message } = error as Error;
      return message === 'bad answer' ? 'success' : message === 'busy' ? 'ignored' : 'failure';
    };
    const failing = async (message: string, count = 1) => {
      for (let n = 0; n < count; n++) await fail(new Error(message)).catch(() => undefined);
    };
    beforeEach(() => {
      breaker = new CircuitBreaker({ clock, classify });
    });

    it('does not open by errors classified as success or ignored', async () => {
      await failing('bad answer', 20);
      await failing('busy', 20);
      expect(breaker.isOpen).toBe(false);
      expect(calls).toBe(40);
    });

    it('keeps its count after an ignored error, and resets it after a success', async () => {
      await failing('down', 4);
      await failing('busy');
      await failing('down');
      expect(breaker.isOpen).toBe(true);
      breaker = new CircuitBreaker({ clock, classify });
      await failing('down', 4);
      await failing('bad answer');
      await failing('down', 4);
      expect(breaker.isOpen).toBe(false);
    });

    it('stays open if an ignored error comes late, or from the probe', async () => {
      let end = (_: Error) => {};
      const late = breaker.run(() => new Promise((_, reject) => (end = reject)));
      await failing('down', 5);
      end(new Error('busy'));
      await expect(late).rejects.toThrow('busy');
      expect(breaker.isOpen).toBe(true);
      clock.advance(2000);
      await failing('busy');
      await turns();
      expect(breaker.isOpen).toBe(true);
      clock.advance(2000);
      await succeed().catch(() => undefined);
      await turns();
      expect(breaker.isOpen).toBe(false);
    });
  });

  it('calls onOpen once each time it opens', async () => {
    let opened = 0;
    breaker = new CircuitBreaker({ clock, onOpen: () => opened++ });
    await failures(20);
    clock.advance(2000);
    await failures(1);
    await turns();
    expect(opened).toBe(1);
    clock.advance(2000);
    await succeed().catch(() => undefined);
    await turns();
    await failures(5);
    expect(opened).toBe(2);
  });
});
