import { SignageError } from '../domain/error.ts';
import type { Fixture } from './fixture.ts';

/** `required`: the service document itself says so. `profile`: this project decided so, in docs/protocol.md. */
export type Level = 'required' | 'profile';

/** What a row needs that a run does not have by itself. */
export type Need = 'time' | 'guessing' | 'tokens' | 'tenants';

/** What was seen: it holds when it is what was expected. As a list, what is wrong: it holds when there is nothing. */
export type Seen = string | readonly string[];
type Look = (stage: Fixture) => Promise<Seen>;

/** One thing that a deployment must do. */
export interface Check {
  /** Stable: `playlist.404`. */
  id: string;
  level: Level;
  /** Of docs/protocol.md. */
  section: string;
  title: string;
  expected: string;
  look: Look;
  needs?: Need | undefined;
}

/** What became of a row. */
export interface Outcome extends Pick<Check, 'id' | 'level' | 'section' | 'title' | 'expected'> {
  result: 'pass' | 'fail' | 'skip';
  /** `null` of a row that was skipped. */
  seen: string | null;
  /** Why it was skipped. */
  reason: string | null;
}

type Unplaced = Omit<Check, 'section' | 'needs'>;

/** What rows have in common. */
interface Subject extends Pick<Check, 'id' | 'section' | 'needs'> {
  subject: string;
}

const rowOf =
  (level: Level) =>
  (id: string, title: string, expected: string, look: Look): Unplaced => ({
    id,
    level,
    title,
    expected,
    look,
  });

export const required = rowOf('required');
export const profile = rowOf('profile');

/** Rows about one thing: `id` stands before their ids, `subject` before their titles. */
export function about(
  { id, subject, section, needs }: Subject,
  rows: readonly Unplaced[],
): Check[] {
  return rows.map((row) => ({
    ...row,
    id: `${id}.${row.id}`,
    title: `${subject}: ${row.title}`,
    section,
    needs,
  }));
}

/** Ends a row that cannot be looked at here. */
export function skip(reason: string): never {
  throw new SignageError('skipped', reason);
}
