import type { Condition } from './condition.ts';

/** What `signage board` sends to its page. Times are those of the service. */
export interface BoardState {
  /** Increases with each change of `problem` or `tiles`. */
  revision: number;
  /** The time of the service when it was asked. */
  at: string;
  /** Milliseconds since then. */
  ageMs: number;
  /** Why the service cannot be asked right now. `null`: it can. */
  problem: string | null;
  /** The worst first. */
  tiles: readonly BoardTile[];
}

/** A screen on the page. */
export interface BoardTile {
  id: string;
  venueId: string;
  venue: string;
  screen: string;
  condition: Condition;
  tone: 'bad' | 'warning' | 'good' | 'faint';
  since: string | null;
  /** Why it is not well. */
  reason: string | null;
  /** Name of the item that plays, its layer, and what the TV switches to. */
  playing: string | null;
  preview: { url: string; type: 'image' | 'video' } | null;
  /** Version of the playlist: `7`, `7 expired`. */
  version: string | null;
  /** Version that the TV has. */
  given: number | null;
  lastSeenAt: string | null;
  lastError: { at: string; item: string | null } | null;
  /** By how much the clock of the TV is wrong. */
  clock: string | null;
  /** Says that the TV plays without its sound. */
  sound: string | null;
  /** The command that looks deeper. `null`: it plays. */
  command: string | null;
}
