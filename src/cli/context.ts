import type { Clock, Random } from '../domain/clock.ts';
import type { Io } from './io.ts';

/** What every command is handed. */
export interface Context {
  io: Io;
  clock: Clock;
  random: Random;
  /** Aborts at the first SIGINT or SIGTERM; its `reason` is the exit code that tells of it. */
  interrupted: AbortSignal;
}

/** The options of a command as commander hands them over. */
export type Flags = Readonly<Record<string, unknown>>;
