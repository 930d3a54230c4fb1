import pLimit from 'p-limit';
import { isoOrNull } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { Page } from '../../domain/paging.ts';
import type { PlaylistWithItems } from '../../domain/playlists/playlist-content.ts';
import type {
  CopyState,
  MirrorCopyView,
  MirrorQuery,
  MirrorRepair,
} from '../../domain/records/mirror.ts';
import type { Screen } from '../../domain/records/rows.ts';
import type { PlaylistCopies, StoredCopy } from '../../origin/origin.ts';
import { recordChange, type ServiceDependencies, type TenantPrincipal } from '../context.ts';
import { whereVenue } from '../lookup.ts';
import { pageFilters } from '../paging.ts';
import type { Mirror } from './mirror.ts';
import { isUpToDate, readWithItems } from './sync.ts';

/** Limit of concurrent reads of the object store. */
const maxConcurrent = 16;

function copiedVersion(stored: StoredCopy | undefined): number | null {
  if (!stored || stored.copy.kind === 'damaged') return null;
  return stored.copy.kind === 'withdrawn' ? stored.copy.version : stored.copy.playlist.version;
}

function stateOf(stored: StoredCopy | undefined, row: PlaylistWithItems | undefined): CopyState {
  if (!stored) return 'missing';
  if (isUpToDate(stored, row)) return stored.copy.kind === 'withdrawn' ? 'tombstone' : 'ok';
  const version = copiedVersion(stored);
  if (version === null) return 'damaged';
  if (!row || version > row.version) return 'newer';
  // If the versions are equal, different content means damage, unless the playlist was withdrawn.
  return version === row.version && stored.copy.kind === 'playlist' && row.state === 'active'
    ? 'damaged'
    : 'stale';
}

/** Management of the mirror copies of playlists in the object store (docs/protocol.md §5.4). */
export function makeMirrorAdmin(deps: ServiceDependencies, mirror: Mirror | undefined) {
  const { store } = deps;

  function requireMirror(): Mirror {
    if (mirror) return mirror;
    throw new SignageError(
      'not_supported',
      'This service keeps no mirror copies of playlists: start it with --object-store.',
    );
  }

  /** Converts a failure of the object store to `unavailable`. */
  async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((cause: unknown) => {
      const detail = 'The object store is unavailable: see the log of the service for the cause.';
      throw new SignageError('unavailable', detail, { cause, retryAfterSeconds: 1 });
    });
  }

  /** Returns `undefined` for a screen that has neither a playlist nor a copy. */
  async function copyView(
    copies: PlaylistCopies,
    queuedAt: number | undefined,
    screen: Screen,
  ): Promise<MirrorCopyView | undefined> {
    const row = await readWithItems(store.read, screen.id);
    const stored = await orUnavailable(copies.read(screen));
    if (!row && !stored) return undefined;
    return {
      screenId: screen.id,
      venueId: screen.venueId,
      screenName: screen.name,
      version: row?.version ?? null,
      copiedVersion: copiedVersion(stored),
      state: stateOf(stored, row),
      queuedAt: isoOrNull(queuedAt),
    };
  }

  /**
   * Lists the copies of one page of screens. Leaves out screens that have neither a playlist nor a
   * copy, so a page may be short. Throws `not_supported`.
   */
  async function list(
    principal: TenantPrincipal,
    query: MirrorQuery,
    signal?: AbortSignal,
  ): Promise<Page<MirrorCopyView>> {
    const { copies, queuedAt } = requireMirror();
    const where = { tenantId: principal.tenantId, ...whereVenue(principal, query.venueId) };
    const { items, next } = await store.list('screens', {
      where,
      ...pageFilters(query, signal),
    });
    const limiter = pLimit(maxConcurrent);
    const queued = queuedAt();
    const viewUnlessAborted = (screen: Screen) => {
      signal?.throwIfAborted();
      return copyView(copies, queued.get(screen.id), screen);
    };
    const all = await Promise.all(
      items.map((screen) => limiter(viewUnlessAborted, screen)),
    ).finally(() => limiter.clearQueue());
    const matching = all.flatMap((view) =>
      view && (query.state === undefined || view.state === query.state) ? [view] : [],
    );
    return { items: matching, nextCursor: next };
  }

  /**
   * Queues the copies of all playlists that the caller may see, for comparison with the store.
   * Throws `not_supported`. The venue of a copy without a screen is unknown, so such copies are
   * queued only for a caller with access to the whole tenant.
   */
  async function repair(principal: TenantPrincipal): Promise<MirrorRepair> {
    const { queueLeftovers, queueScreens } = requireMirror();
    const { tenantId, venueIds } = principal;
    const leftovers = venueIds === null ? await orUnavailable(queueLeftovers(tenantId)) : 0;
    const queued = leftovers + (await queueScreens({ tenantId, ...whereVenue(principal) }));
    await deps.write(principal, async (tx) => {
      const subject = { kind: 'tenant', id: tenantId };
      await recordChange(deps, tx, principal, {
        action: 'mirror.repair',
        subject,
        tenantId,
        venueIds: venueIds ?? [],
        details: { queued },
      });
    });
    return { queued };
  }

  return { list, repair };
}
