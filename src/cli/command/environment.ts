import type { Clock, Random } from '../../domain/clock.ts';
import type { Io } from '../terminal/io.ts';

/** What every command is handed. */
export interface Context {
  io: Io;
  clock: Clock;
  random: Random;
  /** Aborts at the first SIGINT or SIGTERM; its `reason` is the exit code that tells of it. */
  interrupted: AbortSignal;
}

/** What the command is handed that the program runs. */
export interface Environment extends Context {
  /** Has SIGHUP abort `interrupted` too: for what must not leave anything behind when its terminal is closed. */
  heedHangup(): void;
}

/** The options of a command as commander hands them over. */
export type Flags = Readonly<Record<string, unknown>>;
