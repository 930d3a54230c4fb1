import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { isMediaId, type MediaView, mediaPath } from '../../domain/media/media.ts';
import type { Media, MediaUsage } from '../../domain/media/rows.ts';
import { type Reader, type Store, slicesOf, type Tx } from '../../store/store.ts';
import type { TenantPrincipal } from '../context.ts';
import { MediaUses, mediaRowId } from './media-uses.ts';

/** The same error for unknown ids, malformed ids and files of other tenants. */
export const noSuchMedia = () =>
  new SignageError('media_not_found', 'There is no file with this id.');

/** `usedBy` is the number of screens whose playlists name the file. */
export function mediaView(row: Media, usedBy: number): MediaView {
  const { fileId, name, type, bytes, createdAt } = row;
  return {
    id: fileId,
    name,
    type,
    bytes,
    url: mediaPath(fileId, type),
    usedBy,
    createdAt: iso(createdAt),
  };
}

/** Returns a file of the caller's tenant that the caller may see. */
export async function findMedia(
  reader: Reader,
  principal: TenantPrincipal,
  id: string,
): Promise<Media | undefined> {
  if (!isMediaId(id)) return undefined;
  const row = await reader.get('media', mediaRowId(principal.tenantId, id));
  return row && (await new MediaUses(reader).isVisible(principal, row)) ? row : undefined;
}

/** Adds to what the media of a tenant take, in the transaction that changes their records. */
export async function addToUsage(
  tx: Tx,
  tenantId: string,
  { files, bytes }: Pick<MediaUsage, 'files' | 'bytes'>,
): Promise<MediaUsage> {
  const before = await tx.get('mediaUsage', tenantId);
  const usage = {
    id: tenantId,
    files: (before?.files ?? 0) + files,
    bytes: (before?.bytes ?? 0) + bytes,
  };
  await tx.put('mediaUsage', usage);
  return usage;
}

/** Deletes a record. Notes the file for housekeeping if it was the last record that names it. */
export async function removeRecord(tx: Tx, row: Media): Promise<void> {
  const { id, tenantId, fileId, bytes } = row;
  await tx.delete('media', id);
  await addToUsage(tx, tenantId, { files: -1, bytes: -bytes });
  if ((await tx.count('media', 'fileId', fileId)) === 0)
    await tx.put('unusedMedia', { id: fileId, since: tx.now, isBeingDeleted: false });
}

/** Deletes the records of all media of a tenant that is deleted. */
export async function removeMediaOfTenant(tx: Tx, tenantId: string): Promise<void> {
  for (const row of await tx.select('media', 'tenantId', [tenantId])) await removeRecord(tx, row);
  await tx.delete('mediaUsage', tenantId);
}

/** Returns a function that adds up what the media of all tenants take. */
export function makeMediaUsage(store: Pick<Store, 'list'>) {
  return async (): Promise<Pick<MediaUsage, 'files' | 'bytes'>> => {
    const usage = { files: 0, bytes: 0 };
    for await (const items of slicesOf(store, 'mediaUsage', { limit: 200 }))
      for (const { files, bytes } of items) {
        usage.files += files;
        usage.bytes += bytes;
      }
    return usage;
  };
}
