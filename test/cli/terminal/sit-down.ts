// A person at a terminal, in process.
import { expect } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { fakeIo } from '../../support/process/fake-io.ts';
import { terminalScreen } from '../../support/process/terminal-screen.ts';

export interface Person {
  size?: { columns: number; rows: number };
  env?: Record<string, string>;
  clock?: Clock;
}

/** Starts a command at a terminal. */
export async function sitDown(
  argv: readonly string[],
  { size = { columns: 80, rows: 24 }, env = {}, clock = systemClock }: Person = {},
) {
  const io = fakeIo({ env: { XDG_CONFIG_HOME: await temporaryFolder(), ...env }, isTTY: true });
  // A prompt ends its input stream, but a real terminal stays open.
  let screen: NodeJS.EventEmitter = io.terminal().output;
  const terminal = () => {
    const { input, output } = io.terminal();
    screen = Object.assign(output, size);
    return { input, output };
  };
  const ended = main(argv, { ...io, terminal }, { clock });
  const seen = () => terminalScreen(io.err(), size.columns);
  const text = () => seen().join('\n');
  return {
    io,
    ended,
    /** Waits for new text that matches, then types. */
    async answer(pattern: RegExp, keys: string) {
      await io.until(pattern);
      io.type(keys);
    },
    async interrupt() {
      io.signal('SIGINT');
      expect(await ended).toBe(130);
    },
    resize(columns: number, rows: number) {
      Object.assign(screen, { columns, rows });
      screen.emit('resize');
    },
    seen,
    /** Waits until the screen matches. */
    async sees(pattern: RegExp): Promise<RegExpExecArray> {
      await expect.poll(text, { interval: 5 }).toMatch(pattern);
      return pattern.exec(text()) as RegExpExecArray;
    },
    /** The lines of the last redraw. */
    frame: () => (io.err().split('\u001b[J').at(-1) ?? '').split('\n').slice(0, -1),
  };
}
