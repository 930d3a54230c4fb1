import { SignageError } from '../../domain/error.ts';
import { epochMs } from '../../domain/fields.ts';
import { onDemandAnswer } from '../../domain/playlists/playlist.ts';
import { playlistContent } from '../../domain/playlists/playlist-content.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { OnDemandAnswer } from '../origin.ts';

const none: OnDemandAnswer['content'] = null;

/**
 * Returns the error for a bad answer. It does not count as a failure of the source, so other
 * requests still reach the source.
 */
export function badAnswer(why: string, cause?: unknown): SignageError {
  return new SignageError('origin_bad_answer', `The answer of the source is invalid: ${why}`, {
    cause,
  });
}

/**
 * Validates an answer of the source with the schemas for published playlists. `null` means that
 * there is no playlist, and so does a status other than `active`. Throws `origin_bad_answer`, also
 * for an answer about another screen.
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
  return playlistContent(data.items, data.validUntil == null ? null : epochMs(data.validUntil));
}
