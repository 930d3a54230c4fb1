import type { Habits } from './habits.ts';

/** TVs of different styles that all follow docs/protocol.md. The exam must fail none of them. */
export const styles: Readonly<Record<string, Partial<Habits>>> = {
  'only polls': {},
  'holds changes and rotates its key': { holdsChanges: true, rotateEveryMinutes: 3 },
  'reports only every third heartbeat': { heartbeatsPerReport: 3 },
};
