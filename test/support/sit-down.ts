import { expect } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { type FakeIo, fakeIo } from './fake-io.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { terminalScreen } from './terminal-screen.ts';

export interface Sitting {
  io: FakeIo;
  /** Resolves with the exit code. */
  ended: Promise<number>;
  /** Types keys. `\u0003` is Ctrl-C. */
  type(keys: string): void;
  /** Returns the text of `stderr` on the screen. */
  seen(): string;
  /** Waits until the screen matches. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

interface Place {
  env?: Record<string, string>;
  size?: { columns: number; rows: number };
  clock?: Clock;
}

/** Runs a command in this process, like a person at a terminal. */
export async function sitDown(
  argv: readonly string[],
  { env = {}, size = { columns: 80, rows: 24 }, clock = systemClock }: Place = {},
): Promise<Sitting> {
  const io = fakeIo({
    env: { XDG_CONFIG_HOME: await temporaryFolder(), ...env },
    isTTY: true,
    columns: size.columns,
  });
  const terminal = () => {
    const { input, output } = io.terminal();
    return { input, output: Object.assign(output, size) };
  };
  const seen = () => terminalScreen(io.err(), size.columns).join('\n');
  return {
    io,
    ended: main(argv, { ...io, terminal }, { clock }),
    type: io.type,
    seen,
    async until(pattern) {
      await expect.poll(seen, { interval: 5 }).toMatch(pattern);
      return pattern.exec(seen()) as RegExpExecArray;
    },
  };
}
