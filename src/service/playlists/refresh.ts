import { hasCode, SignageError } from '../../domain/error.ts';
import { type PlaylistRefresh, playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { OnDemandOrigin, OriginAnswer } from '../../origin/origin.ts';
import { type Principal, recordChange, type ServiceDependencies } from '../context.ts';
import { lookUp } from '../lookup.ts';

/** Error codes whose messages contain no text from the source or the network. */
const codesToShow = new Set<unknown>([
  'origin_timeout',
  'origin_status',
  'origin_bad_answer',
  'origin_skipped',
]);

function failure(cause: unknown): unknown {
  if (hasCode(cause, 'unavailable')) return cause;
  if (hasCode(cause, 'origin_busy'))
    return new SignageError('unavailable', `The on-demand source is busy: ${cause.message}`, {
      cause,
      retryAfterSeconds: 1,
    });
  const isShown = cause instanceof SignageError && codesToShow.has(cause.code);
  const reason = isShown ? cause.message : 'The source failed, or cannot be reached.';
  return new SignageError(
    'playlist_fetch_failed',
    `The on-demand source did not deliver a playlist: ${reason}`,
    { cause, retryAfterSeconds: 5 },
  );
}

/**
 * Refreshes playlists from the on-demand source (docs/protocol.md §5.4).
 *
 * @param refreshOrigin calls the source. `undefined` without a source
 */
export function makePlaylistRefresh(
  deps: ServiceDependencies,
  refreshOrigin: OnDemandOrigin['refresh'] | undefined,
) {
  const { store, clock } = deps;

  /**
   * Returns the version of the active playlist if it came from the source. Otherwise throws
   * `playlist_not_found` or `not_supported`.
   */
  async function keptVersion({ id }: Screen): Promise<number> {
    const row = await store.read.get('playlists', id);
    if (!row || playlistStatusAt(row, clock.now()) !== 'active')
      throw new SignageError(
        'playlist_not_found',
        'The on-demand source has no playlist for this screen, and no playlist was published.',
      );
    if (row.origin === 'on-demand') return row.version;
    throw new SignageError(
      'not_supported',
      'The on-demand source has no playlist for this screen: TVs get the published one.',
    );
  }

  /**
   * Calls the on-demand source for a screen. TVs then get its answer. Throws `not_supported`,
   * `playlist_not_found`, `playlist_fetch_failed` or `unavailable`.
   */
  return async (principal: Principal, screenId: string): Promise<PlaylistRefresh> => {
    const screen = await lookUp(store.read, principal, 'screen', screenId);
    if (!refreshOrigin)
      throw new SignageError(
        'not_supported',
        'This service has no on-demand source, so there is nothing to refresh.',
      );
    const before = await store.read.get('playlists', screen.id);
    let answer: OriginAnswer;
    try {
      answer = await refreshOrigin(screen);
    } catch (error) {
      throw failure(error);
    }
    const version =
      answer.kind === 'playlist' ? answer.playlist.version : await keptVersion(screen);
    const changed = version !== before?.version;
    // The write also checks whether the caller's credential is still valid.
    await deps.write(principal, async (tx) => {
      if (!changed) return;
      const { id, tenantId, venueId } = await lookUp(tx, principal, 'screen', screenId);
      await recordChange(deps, tx, principal, {
        action: 'playlist.refresh',
        subject: { kind: 'screen', id },
        tenantId,
        venueIds: [venueId],
        details: { version, changed },
      });
    });
    return { version, changed };
  };
}
