import { SignageError } from '../domain/error.ts';
import type { Fixture } from './fixture.ts';

/**
 * `required`: demanded by the service document. `profile`: decided by this project, in
 * docs/protocol.md.
 */
export type Level = 'required' | 'profile';

/** A precondition of a check that only some runs meet. */
export type Need = 'time' | 'guessing' | 'tokens' | 'tenants';

/**
 * Returns what was observed: a value, a response, or a list of both. The check passes if their
 * text equals `expected`. `describeAnswer` makes the text of a response.
 */
type Run = (fixture: Fixture) => Promise<unknown>;

/** One requirement on a deployment. */
export interface Check {
  /** Stable id, such as `playlist.404`. */
  id: string;
  level: Level;
  /** Section of docs/protocol.md. */
  section: string;
  title: string;
  expected: string;
  run: Run;
  needs?: Need | undefined;
}

/** The result of one check. */
export interface Outcome extends Pick<Check, 'id' | 'level' | 'section' | 'title' | 'expected'> {
  result: 'pass' | 'fail' | 'skip';
  /** `null` if the check was skipped. */
  seen: string | null;
  /** Why the check was skipped; otherwise `null`. */
  reason: string | null;
}

type UngroupedCheck = Omit<Check, 'section' | 'needs'>;

/** What the checks of a group have in common. */
interface CheckGroup extends Pick<Check, 'id' | 'section' | 'needs'> {
  subject: string;
}

/** Returns a function that begins a check: `required('404', '404 when …').expects('404', run)`. */
const checkOf = (level: Level) => (id: string, title: string) => ({
  expects: (expected: string, run: Run): UngroupedCheck => ({ id, level, title, expected, run }),
});

export const required = checkOf('required');
export const profile = checkOf('profile');

/** Builds a group of checks. `id` is prepended to their ids and `subject` to their titles. */
export function checkGroup(
  { id, subject, section, needs }: CheckGroup,
  checks: readonly UngroupedCheck[],
): Check[] {
  return checks.map((check) => ({
    ...check,
    id: `${id}.${check.id}`,
    title: `${subject}: ${check.title}`,
    section,
    needs,
  }));
}

/** Skips the current check, because it cannot be run here. */
export function skip(reason: string): never {
  throw new SignageError('skipped', reason);
}
