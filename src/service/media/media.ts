import { SignageError } from '../../domain/error.ts';
import {
  type ByteRange,
  isMediaId,
  type MediaQuery,
  type MediaView,
} from '../../domain/media/media.ts';
import type { Media } from '../../domain/media/rows.ts';
import type { Page } from '../../domain/paging.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { Reader } from '../../store/store.ts';
import { recordChange, type ServiceDependencies, type TenantPrincipal } from '../context.ts';
import { badCursor } from '../paging.ts';
import { findMedia, mediaView, noSuchMedia, removeRecord } from './media-records.ts';
import { MediaUses, mediaRowId } from './media-uses.ts';

/** Throws `media_not_found` unless the caller may see the file. */
async function lookUp(reader: Reader, principal: TenantPrincipal, id: string): Promise<Media> {
  const row = await findMedia(reader, principal, id);
  if (!row) throw noSuchMedia();
  return row;
}

function namedBy(screens: number): string {
  if (screens === 0) return 'The schedule of a venue names';
  if (screens === 1) return 'A playlist or schedule of 1 screen names';
  return `Playlists or schedules of ${screens} screens name`;
}

/**
 * The media of tenants (docs/protocol.md §5.14).
 *
 * @param files where the files lie. `undefined`: this service keeps no media
 */
export function makeMedia(deps: ServiceDependencies, files: MediaStore | undefined) {
  const { store } = deps;
  return {
    /** Throws `media_not_found` unless the caller may see the file. */
    lookUp: (principal: TenantPrincipal, id: string) => lookUp(store.read, principal, id),

    async get(principal: TenantPrincipal, id: string): Promise<MediaView> {
      const row = await lookUp(store.read, principal, id);
      return mediaView(row, (await new MediaUses(store.read).of(row)).screens.size);
    },

    async list(
      principal: TenantPrincipal,
      { cursor, limit, name, search }: MediaQuery,
      signal?: AbortSignal,
    ): Promise<Page<MediaView>> {
      if (cursor !== undefined && !isMediaId(cursor)) throw badCursor();
      const { tenantId } = principal;
      const found: MediaView[] = [];
      const uses = new MediaUses(store.read);
      const view = async (row: Media) =>
        (await uses.isVisible(principal, row))
          ? mediaView(row, (await uses.of(row)).screens.size)
          : undefined;
      let after = cursor === undefined ? undefined : mediaRowId(tenantId, cursor);
      do {
        const { items, next } = await store.list('media', {
          where: { tenantId },
          limit,
          signal,
          ...(after !== undefined && { after }),
          ...(name !== undefined && { name }),
          ...(search !== undefined && { search }),
        });
        // All at once, so that a database gets few statements.
        for (const shown of await Promise.all(items.map(view))) {
          if (!shown) continue;
          if (found.length === limit) return { items: found, nextCursor: found.at(-1)?.id ?? null };
          found.push(shown);
        }
        after = next ?? undefined;
      } while (after !== undefined);
      return { items: found, nextCursor: null };
    },

    /** Throws `media_in_use`, unless forced. */
    async remove(principal: TenantPrincipal, id: string, isForced: boolean): Promise<void> {
      if (isForced && principal.venueIds !== null)
        throw new SignageError(
          'insufficient_role',
          'A token that is bound to venues cannot force a deletion: other venues may show the file.',
        );
      await deps.write(principal, async (tx) => {
        const row = await lookUp(tx, principal, id);
        const { isUsed, screens } = await new MediaUses(tx).of(row);
        if (isUsed && !isForced)
          throw new SignageError(
            'media_in_use',
            `${namedBy(screens.size)} this file, past versions included. Publish others first, or delete it with force=true.`,
          );
        await removeRecord(tx, row);
        await recordChange(deps, tx, principal, {
          action: 'media.delete',
          subject: { kind: 'media', id },
          tenantId: row.tenantId,
          venueIds: principal.venueIds ?? [],
          details: { name: row.name, bytes: row.bytes, usedBy: screens.size },
        });
      });
    },

    /** Returns what is known about a file for anyone who knows its path. */
    async file(id: string): Promise<Pick<Media, 'type' | 'bytes'> | undefined> {
      const [row] = await store.read.select('media', 'fileId', [id]);
      return row;
    },

    /** Whether the media store has the first `bytes` of a file. */
    async isStored(id: string, bytes: number): Promise<boolean> {
      return ((await files?.find(id))?.bytes ?? -1) >= bytes;
    },

    /** Reads a file, or a range of it. `undefined` if it is missing from the media store. */
    async open(id: string, range: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
      return files?.open(id, range);
    },
  };
}
