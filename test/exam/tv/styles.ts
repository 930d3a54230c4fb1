import type { Habits } from './habits.ts';

/** A TV that uses the optional `seq` and `X-Device-Time`. */
export const numbering: Partial<Habits> = {
  numbersEvents: true,
  deviceTime: (nowMs) => String(Math.floor(nowMs)),
};

/** TVs of different styles that all follow docs/protocol.md. The exam must fail none of them. */
export const styles: Readonly<Record<string, Partial<Habits>>> = {
  'only polls': {},
  'holds changes and rotates its key': { holdsChanges: true, rotateEveryMinutes: 3 },
  'reports only every third heartbeat': { heartbeatsPerReport: 3 },
  'numbers its events and tells the time of its clock': numbering,
};
