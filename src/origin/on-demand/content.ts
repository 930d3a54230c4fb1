import { SignageError } from '../../domain/error.ts';
import { epochMs } from '../../domain/fields.ts';
import { onDemandAnswer } from '../../domain/records/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { OnDemandAnswer } from '../origin.ts';

const none: OnDemandAnswer['content'] = null;

/** A failure that is the source's answer, not the source: others need not be kept from asking it. */
export function badAnswer(why: string, cause?: unknown): SignageError {
  return new SignageError('origin_bad_answer', `What the source answered cannot be used: ${why}`, {
    cause,
  });
}

/**
 * Judges what the source answered for a screen, by the schemas of publishing; `null` is its way to say "none". An answer that calls itself withdrawn or
 * expired says the same, and one that is for another screen is nobody's. Throws `origin_bad_answer`.
 */
export function onDemandContent(answer: unknown, screen: Screen): OnDemandAnswer['content'] {
  if (answer === null) return none;
  const { success, data, error } = onDemandAnswer.safeParse(answer);
  if (!success) {
    const [issue] = error.issues;
    throw badAnswer(`/${issue?.path.join('/')}: ${issue?.message}`);
  }
  if (data.screenId !== undefined && data.screenId !== screen.id)
    throw badAnswer('it is the playlist of another screen.');
  if (data.status !== undefined && data.status !== 'active') return none;
  return {
    items: JSON.stringify(data.items),
    validUntil: data.validUntil == null ? null : epochMs(data.validUntil),
  };
}
