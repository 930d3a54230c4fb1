import { expect, it } from 'vitest';
import { SharedTimers, timerStepOf } from '../../../src/service/playlists/shared-timers.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

function timers() {
  const clock = new ManualClock();
  const due: string[] = [];
  const shared = new SharedTimers<string>(clock, (entry) => due.push(entry));
  const startStep = timerStepOf(clock.now());
  clock.advance(startStep - clock.now());
  return { clock, due, shared, startStep };
}

it('entries are due at the end of their step, and never before', () => {
  const { clock, due, shared, startStep } = timers();
  shared.add('one', timerStepOf(clock.now() + 150));
  shared.add('two', timerStepOf(clock.now() + 199));
  shared.add('three', timerStepOf(clock.now() + 201));
  expect(timerStepOf(clock.now() + 150)).toBe(startStep + 200);
  clock.advance(199);
  expect(due).toEqual([]);
  clock.advance(1);
  expect(due).toEqual(['one', 'two']);
  clock.advance(100);
  expect(due).toEqual(['one', 'two', 'three']);
});

it('a deleted entry is not due, and others of its step are', () => {
  const { clock, due, shared } = timers();
  const step = timerStepOf(clock.now() + 50);
  shared.add('one', step);
  shared.add('two', step);
  shared.delete('one', step);
  shared.delete('one', step);
  clock.advance(1000);
  expect(due).toEqual(['two']);
});

it('a step in the past is due at once', () => {
  const { clock, due, shared } = timers();
  shared.add('late', timerStepOf(clock.now() - 5000));
  clock.advance(0);
  expect(due).toEqual(['late']);
});
