import { describe, expect, it } from 'vitest';
import { askForPower } from '../../../src/cli/commands/conformance/run-tv-exam.ts';
import type { CommandContext } from '../../../src/cli/program/context.ts';
import { SignageError } from '../../../src/domain/error.ts';

/** Gives these answers to the questions; after them, Ctrl-C. */
function powerOf(...answers: boolean[]) {
  const stop = new AbortController();
  const prompter = {
    async confirm() {
      const answer = answers.shift();
      if (answer === undefined) throw new SignageError('interrupted', 'Interrupted.');
      return answer;
    },
  };
  return { stop, power: askForPower({ prompter } as unknown as CommandContext, stop) };
}

describe('a question for the plug of a TV', () => {
  it('is asked again until the TV is on', async () => {
    const { stop, power } = powerOf(true, false, false, true);
    expect(await power.off()).toBe(true);
    await power.on();
    expect(stop.signal.aborted).toBe(false);
  });

  it('ends the exam at Ctrl-C', async () => {
    const off = powerOf();
    expect(await off.power.off()).toBe(false);
    expect(off.stop.signal.reason).toMatchObject({ code: 'interrupted' });
    const on = powerOf(false);
    await on.power.on();
    expect(on.stop.signal.aborted).toBe(true);
  });
});
