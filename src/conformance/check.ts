import { SignageError } from '../domain/error.ts';
import type { Fixture } from './fixture.ts';

/**
 * `required`: a requirement of the original specification. `profile`: a decision of this project,
 * in docs/protocol.md.
 */
export type Level = 'required' | 'profile';

/**
 * A requirement of a check that not every run meets.
 */
export type Need = 'time' | 'guessing' | 'tokens' | 'platform' | 'tenants';

/**
 * Makes the requests of a check. Returns the observation: a value, a response, or a list of both.
 * The check passes if the text of the observation equals `expected`. `describeAnswer` converts a
 * response to text.
 */
type Run = (fixture: Fixture) => Promise<unknown>;

/** The result of one check. */
export interface Outcome {
  /** Stable id, such as `playlist.404`. */
  id: string;
  level: Level;
  /** Section of docs/protocol.md. */
  section: string;
  title: string;
  expected: string;
  result: 'pass' | 'fail' | 'skip';
  /** `null` if the check was skipped. */
  seen: string | null;
  /** Reason why the check was skipped, or `null`. */
  reason: string | null;
}

/** One requirement on a deployment. */
export interface ConformanceCheck
  extends Pick<Outcome, 'id' | 'level' | 'section' | 'title' | 'expected'> {
  run: Run;
  needs?: Need | undefined;
}

type UngroupedCheck = Omit<ConformanceCheck, 'section' | 'needs'>;

/** Properties that all checks of a group share. */
interface CheckGroup extends Pick<ConformanceCheck, 'id' | 'section' | 'needs'> {
  subject: string;
}

/**
 * Returns a function that starts the definition of a check: `required('404', '404 when
 * …').expects('404', run)`.
 */
const checkOf = (level: Level) => (id: string, title: string) => ({
  expects: (expected: string, run: Run): UngroupedCheck => ({ id, level, title, expected, run }),
});

export const required = checkOf('required');
export const profile = checkOf('profile');

/** Builds a group of checks. Prepends `id` to their ids, and `subject` to their titles. */
export function checkGroup(
  { id, subject, section, needs }: CheckGroup,
  checks: readonly UngroupedCheck[],
): ConformanceCheck[] {
  return checks.map((check) => ({
    ...check,
    id: `${id}.${check.id}`,
    title: `${subject}: ${check.title}`,
    section,
    needs,
  }));
}

/** Skips the current check, because this run cannot perform it. */
export function skip(reason: string): never {
  throw new SignageError('skipped', reason);
}
