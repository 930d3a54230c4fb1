import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import type { BoardState } from '../../../src/domain/conditions/board-state.ts';
import { afterEachFile } from '../../support/runtime/clean-up.ts';
import { adminToken } from '../../support/service/service.ts';
import { sitDown } from '../terminal/sit-down.ts';

interface BoardOptions {
  args?: readonly string[];
  clock?: Clock;
  env?: Record<string, string>;
}

const opened: (() => Promise<unknown>)[] = [];
afterEachFile(() => Promise.all(opened.splice(0).map((end) => end())));

/** Starts `signage board`, and reads the address that it prints. It ends after the file. */
export async function openBoard(
  service: { url: string },
  { args = [], clock = systemClock, env = {} }: BoardOptions = {},
) {
  const { io, ended, interrupt } = await sitDown(['board', '-o', 'name', ...args], {
    env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: adminToken, ...env },
    clock,
  });
  opened.push(async () => {
    io.signal('SIGINT');
    await ended;
  });
  const url = (await io.until(/http:\S+\/\n/)).trim();
  return {
    url,
    io,
    ended,
    interrupt,
    /** Asks for the state, as the page does. */
    async state(after = 0): Promise<BoardState> {
      return (await fetch(`${url}state?after=${after}`)).json() as Promise<BoardState>;
    },
  };
}
