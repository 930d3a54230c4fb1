import { invalid, SignageError } from '../../domain/error.ts';
import { isMediaId, type MediaUpload, type MediaView } from '../../domain/media/media.ts';
import type { MediaType } from '../../domain/media/media-types.ts';
import type { Media } from '../../domain/media/rows.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { Tx } from '../../store/store.ts';
import { recordChange, type ServiceDependencies, type TenantPrincipal } from '../context.ts';
import { requireTenant } from '../lookup.ts';
import { mediaView } from '../views.ts';
import { judged, sized, verified } from './media-content.ts';
import { MediaParts, type Part } from './media-parts.ts';
import { addToUsage, findMedia, noSuchMedia } from './media-records.ts';
import { mediaRowId, screensUsing } from './media-uses.ts';
import { UploadLimits } from './upload-limits.ts';

export interface MediaOptions {
  /** Where the files lie. `undefined`: this service keeps no media. */
  files: MediaStore | undefined;
  /** The largest file in bytes. */
  limitBytes: number;
  /** What the files of one tenant may take, in bytes. */
  quotaBytes: number;
  /** Counts an upload that has ended. */
  onUpload?: (outcome: UploadOutcome) => void;
}

export type UploadOutcome = 'stored' | 'refused';

/** The body of an upload. */
export interface UploadBody {
  /** `Content-Length`. */
  length: number;
  /** Reads the body. Called once, and only if the upload may begin. */
  read(): AsyncIterable<Uint8Array>;
}

export interface UploadWish {
  name?: string | undefined;
  /** Where the part begins. `undefined`: the body is the whole file. */
  offset?: number | undefined;
  /** The size of the whole file, with `offset`. */
  size?: number | undefined;
}

/** The result of an upload: the record of a whole file, or the bytes received so far. */
export type Uploaded = { record: MediaView; isNew: boolean } | MediaUpload;

const noMedia = () =>
  new SignageError(
    'not_supported',
    'This service keeps no media. Start it with --media, a folder that all its instances share, or a bucket.',
  );

/** Uploads of media, whole or in parts (docs/protocol.md §5.14). */
export function makeMediaUploads(
  deps: ServiceDependencies,
  { files, limitBytes, quotaBytes, onUpload = () => {} }: MediaOptions,
) {
  const { store } = deps;
  const parts = files && new MediaParts(files);
  const limits = parts && new UploadLimits(store.read, parts, { limitBytes, quotaBytes });

  function required() {
    if (!files || !parts || !limits) throw noMedia();
    return { files, parts, limits };
  }

  /**
   * Notes that a file lies in the media store without a record, so that housekeeping deletes it if
   * its upload does not end. Throws `unavailable` while housekeeping deletes the same file.
   */
  async function noteUnused(principal: TenantPrincipal, id: string): Promise<void> {
    await deps.write(principal, async (tx) => {
      if ((await tx.get('unusedMedia', id))?.isBeingDeleted)
        throw new SignageError('unavailable', 'An unused copy of this file is being deleted.', {
          retryAfterSeconds: 5,
        });
      await tx.put('unusedMedia', { id, since: tx.now, isBeingDeleted: false });
    });
  }

  /** Passes the content on, checks it, and notes the file just before it becomes visible. */
  async function* checked(
    principal: TenantPrincipal,
    id: string,
    size: number,
    content: AsyncIterable<Uint8Array>,
    onType: (type: MediaType) => void,
  ): AsyncGenerator<Uint8Array> {
    yield* verified(judged(content, true, onType), id, size);
    await noteUnused(principal, id);
  }

  /** Stores a whole file, then its record. */
  async function keep(
    principal: TenantPrincipal,
    id: string,
    name: string | undefined,
    size: number,
    content: AsyncIterable<Uint8Array>,
  ): Promise<Uploaded> {
    let type: MediaType | undefined;
    const passed = checked(principal, id, size, content, (found) => {
      type = found;
    });
    await required().files.put(id, size, passed);
    return deps.write(principal, (tx) => record(tx, principal, id, name, size, type as MediaType));
  }

  async function record(
    tx: Tx,
    principal: TenantPrincipal,
    id: string,
    name: string | undefined,
    bytes: number,
    type: MediaType,
  ): Promise<Uploaded> {
    await requireTenant(tx, principal);
    const { tenantId, venueIds, actor } = principal;
    const known = await tx.get('media', mediaRowId(tenantId, id));
    const bound = venueIds === null || actor.id === null ? [] : [actor.id];
    const tokenIds = [...new Set([...(known?.tokenIds ?? []), ...bound])];
    await tx.delete('unusedMedia', id);
    if (known) {
      const row = { ...known, tokenIds };
      if (tokenIds.length > known.tokenIds.length) await tx.put('media', row);
      return { record: mediaView(row, 0), isNew: false };
    }
    const row: Media = {
      id: mediaRowId(tenantId, id),
      tenantId,
      fileId: id,
      name: name ?? id.slice(0, 12),
      type,
      bytes,
      tokenIds,
      createdAt: tx.stamp,
    };
    const usage = await addToUsage(tx, tenantId, { files: 1, bytes });
    required().limits.checkQuota(usage.bytes);
    await tx.put('media', row);
    await recordChange(deps, tx, principal, {
      action: 'media.create',
      subject: { kind: 'media', id },
      tenantId,
      venueIds: venueIds ?? [],
      details: { name: row.name, type, bytes },
    });
    return { record: mediaView(row, 0), isNew: true };
  }

  async function putWhole(
    principal: TenantPrincipal,
    id: string,
    name: string | undefined,
    { length, read }: UploadBody,
  ): Promise<Uploaded> {
    const { parts: known, limits: admission } = required();
    await admission.checkSize(principal, id, length);
    return admission.run(principal, length, async () => {
      const kept = await keep(principal, id, name, length, read());
      await known.discard(principal.tenantId, id);
      return kept;
    });
  }

  async function putPart(
    principal: TenantPrincipal,
    id: string,
    name: string | undefined,
    part: Part,
    { read }: UploadBody,
  ): Promise<Uploaded> {
    const { tenantId } = principal;
    const { parts: known, limits: admission } = required();
    const { offset, size, length } = part;
    await admission.checkSize(principal, id, size);
    return admission.run(principal, 0, async () => {
      const content = sized(read(), length);
      await known.add(
        tenantId,
        id,
        part,
        offset === 0 ? judged(content, length === size) : content,
      );
      // The caller's token may have been deleted while the part arrived.
      await deps.write(principal, (tx) => requireTenant(tx, principal));
      if (offset + length < size) return { received: offset + length };
      const upload = await known.find(tenantId, id);
      try {
        const whole = upload ? known.read(upload) : content;
        const kept = await keep(principal, id, name, size, whole);
        await known.discard(tenantId, id);
        return kept;
      } catch (error) {
        if (error instanceof SignageError && spoilt.includes(error.code))
          await known.discard(tenantId, id);
        throw error;
      }
    });
  }

  async function put(
    principal: TenantPrincipal,
    id: string,
    { name, offset, size }: UploadWish,
    body: UploadBody,
  ): Promise<Uploaded> {
    const { files: stored } = required();
    if (!isMediaId(id))
      throw invalid([
        {
          path: 'path.id',
          message: 'must be the SHA-256 of the file, as 64 lower-case hex digits',
        },
      ]);
    const row = await findMedia(store.read, principal, id);
    // A file that is missing or cut in the media store is stored again.
    if (row && (await stored.find(id))?.bytes === row.bytes)
      return { record: mediaView(row, (await screensUsing(store.read, row)).length), isNew: false };
    try {
      const uploaded =
        offset === undefined || size === undefined
          ? await putWhole(principal, id, name, body)
          : await putPart(principal, id, name, { offset, size, length: body.length }, body);
      if ('record' in uploaded) onUpload('stored');
      return uploaded;
    } catch (error) {
      if (!(error instanceof SignageError && error.code === 'media_offset')) onUpload('refused');
      throw error;
    }
  }

  return {
    put,

    /** Returns how much of a file has arrived. Throws `media_not_found` if nothing has. */
    async upload({ tenantId }: TenantPrincipal, id: string): Promise<MediaUpload> {
      const { parts: known } = required();
      const upload = isMediaId(id) ? await known.find(tenantId, id) : undefined;
      if (!upload) throw noSuchMedia();
      return { received: upload.received };
    },
  };
}

/** Codes of errors after which the received parts of a file are of no use. */
const spoilt: readonly string[] = ['digest_mismatch', 'media_not_accepted'];
