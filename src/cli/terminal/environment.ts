import type { Clock, Random } from '../../domain/clock.ts';
import type { Io } from './io.ts';

/** The parts of the process and the machine that a command uses. */
export interface Environment {
  io: Io;
  clock: Clock;
  random: Random;
  /** Aborts at the first SIGINT or SIGTERM. Its `reason` is the exit code. */
  interrupted: AbortSignal;
}

/** The environment of the command that the program runs. */
export interface ProgramEnvironment extends Environment {
  /** Makes SIGHUP abort `interrupted`, too. For commands that clean up when the terminal closes. */
  heedHangup(): void;
}
