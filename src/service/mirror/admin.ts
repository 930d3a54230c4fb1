import pLimit from 'p-limit';
import { isoOrNull } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { Page } from '../../domain/paging.ts';
import type {
  CopyState,
  MirrorCopyView,
  MirrorQuery,
  MirrorRepair,
} from '../../domain/records/mirror.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { HeldCopy, PlaylistCopies } from '../../origin/origin.ts';
import { recordChange, type ServiceDependencies, type TenantCaller } from '../context.ts';
import { afterId } from '../paging.ts';
import { inVenues } from '../venue-scope.ts';
import { queueCopy } from './outbox.ts';
import { agrees } from './sync-screen.ts';

/** Copies that are looked at, at the same time. */
const width = 16;
/** Screens that one change queues. */
const pageSize = 200;

function copiedVersion(held: HeldCopy | undefined): number | null {
  if (!held || held.copy.kind === 'damaged') return null;
  return held.copy.kind === 'withdrawn' ? held.copy.version : held.copy.playlist.version;
}

function stateOf(held: HeldCopy | undefined, row: Playlist | undefined): CopyState {
  if (!held) return 'missing';
  if (agrees(held, row)) return held.copy.kind === 'withdrawn' ? 'tombstone' : 'ok';
  const version = copiedVersion(held);
  if (version === null) return 'damaged';
  if (!row || version > row.version) return 'newer';
  // What is called the same must be the same, but for its end.
  return version === row.version && held.copy.kind === 'playlist' && row.state === 'active'
    ? 'damaged'
    : 'stale';
}

/** The copies of playlists in the object store, as managers see to them (docs/protocol.md §5.4). */
export function makeMirrorAdmin(deps: ServiceDependencies, copies: PlaylistCopies | undefined) {
  const { store } = deps;

  function required(): PlaylistCopies {
    if (copies) return copies;
    throw new SignageError(
      'not_supported',
      'This service keeps no copies of playlists: start it with --object-store.',
    );
  }

  /** The answer of the object store, or `unavailable`. */
  async function asked<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((cause: unknown) => {
      const detail = 'The object store cannot be asked right now: the service’s log says why.';
      throw new SignageError('unavailable', detail, { cause, retryAfterSeconds: 1 });
    });
  }

  /** `undefined` for a screen that has neither playlist nor copy. */
  async function standing(screen: Screen): Promise<MirrorCopyView | undefined> {
    const [row, pending] = await Promise.all([
      store.read.get('playlists', screen.id),
      store.read.get('mirrorPending', screen.id),
    ]);
    const held = await asked(required().read(screen));
    if (!row && !held) return undefined;
    return {
      ...{ screenId: screen.id, venueId: screen.venueId, screenName: screen.name },
      ...{
        version: row?.version ?? null,
        copiedVersion: copiedVersion(held),
        state: stateOf(held, row),
      },
      queuedAt: isoOrNull(pending?.queuedAt),
    };
  }

  /** A page is of so many screens, and shows those of them that there is something to say of. Throws `not_supported`. */
  async function list(caller: TenantCaller, query: MirrorQuery): Promise<Page<MirrorCopyView>> {
    required();
    const where = { tenantId: caller.tenantId, ...inVenues(caller, query.venueId) };
    const { items, next } = await store.list('screens', {
      where,
      ...afterId(query.cursor),
      limit: query.limit,
    });
    const turns = pLimit(width);
    const all = await Promise.all(items.map((screen) => turns(() => standing(screen)))).finally(
      () => turns.clearQueue(),
    );
    const shown = all.flatMap((one) =>
      one && (query.state === undefined || one.state === query.state) ? [one] : [],
    );
    return { items: shown, nextCursor: next };
  }

  /** Queues those of these screens that have a playlist, or, with `alsoWithout`, those that have none. */
  async function queue(
    caller: TenantCaller,
    ids: readonly string[],
    hasPlaylist: boolean,
  ): Promise<number> {
    return deps.write(caller, async (tx) => {
      let queued = 0;
      for (const id of ids) {
        if (((await tx.get('playlists', id)) !== undefined) !== hasPlaylist) continue;
        await queueCopy(tx, { id, tenantId: caller.tenantId });
        queued++;
      }
      return queued;
    });
  }

  async function queueScreens(caller: TenantCaller): Promise<number> {
    const where = { tenantId: caller.tenantId, ...inVenues(caller) };
    let queued = 0;
    for (let after: string | null | undefined; after !== null; ) {
      const { items, next } = await store.list('screens', {
        where,
        limit: pageSize,
        ...(after !== undefined && { after }),
      });
      const ids = items.map(({ id }) => id);
      queued += await queue(caller, ids, true);
      after = next;
    }
    return queued;
  }

  /** Copies of what the store does not have any more. Whose venue they were of is not known: they are for callers who see the whole tenant. */
  async function queueLeftovers(caller: TenantCaller): Promise<number> {
    if (caller.venueIds !== null) return 0;
    let queued = 0;
    for (let after: string | null | undefined; after !== null; ) {
      const { ids, next } = await asked(required().screensOf(caller.tenantId, after ?? null));
      queued += await queue(caller, ids, false);
      after = next;
    }
    return queued;
  }

  /** Has every copy looked at, and made to say what the store says. Throws `not_supported`. */
  async function repair(caller: TenantCaller): Promise<MirrorRepair> {
    required();
    const queued = (await queueLeftovers(caller)) + (await queueScreens(caller));
    const { tenantId, venueIds } = caller;
    await deps.write(caller, async (tx) => {
      const subject = { kind: 'tenant', id: tenantId };
      await recordChange(deps, tx, caller, {
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
