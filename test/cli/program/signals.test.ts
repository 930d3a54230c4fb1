import { describe, expect, it } from 'vitest';
import { watchInterruption } from '../../../src/cli/program/signals.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

function watched() {
  const io = fakeIo();
  const interruption = watchInterruption(io);
  let demanded: number | undefined;
  interruption.second.then((exitCode) => {
    demanded = exitCode;
  });
  const demands = async () => {
    await Promise.resolve();
    return demanded;
  };
  return { io, interruption, demands };
}

describe('interruption', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'the first %s requests a graceful end with %i, the second an immediate one',
    async (name, exitCode) => {
      const { io, interruption, demands } = watched();
      io.signal(name);
      expect(interruption.signal.reason).toBe(exitCode);
      expect(await demands()).toBeUndefined();
      io.signal(name);
      expect(await demands()).toBe(exitCode);
    },
  );

  it('leaves SIGHUP alone until heedHangup', () => {
    const { io, interruption } = watched();
    expect(io.signal('SIGHUP')).toBe(false);
    expect(interruption.signal.aborted).toBe(false);
  });

  it('then treats SIGHUP as SIGTERM, but ignores a second SIGHUP', async () => {
    const { io, interruption, demands } = watched();
    interruption.heedHangup();
    io.signal('SIGHUP');
    io.signal('SIGHUP');
    expect(interruption.signal.reason).toBe(143);
    expect(await demands()).toBeUndefined();
    io.signal('SIGTERM');
    expect(await demands()).toBe(143);
  });

  it('removes all signal handlers at the end', () => {
    const { io, interruption } = watched();
    interruption.heedHangup();
    interruption.stop();
    expect([io.signal('SIGINT'), io.signal('SIGTERM'), io.signal('SIGHUP')]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
