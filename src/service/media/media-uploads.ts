import { hasCode, invalid, SignageError } from '../../domain/error.ts';
import { isMediaId, type MediaUpload, type MediaView } from '../../domain/media/media.ts';
import type { PartKey } from '../../domain/media/media-keys.ts';
import type { MediaType } from '../../domain/media/media-types.ts';
import type { Media } from '../../domain/media/rows.ts';
import { makeTurns } from '../../domain/turns/turns.ts';
import { acceptedType, type Examiner } from '../../media/examination/examiner.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { Tx } from '../../store/store.ts';
import { recordChange, type ServiceDependencies, type TenantPrincipal } from '../context.ts';
import { requireTenant } from '../lookup.ts';
import { type JudgeHead, judged, sized, verified } from './media-content.ts';
import { checkPart, MediaParts, wrongOffset } from './media-parts.ts';
import { addToUsage, findMedia, mediaView, noSuchMedia } from './media-records.ts';
import { MediaUses, mediaRowId } from './media-uses.ts';
import { UploadLimits } from './upload-limits.ts';

export interface MediaOptions {
  /** Where the files lie. `undefined`: this service keeps no media. */
  files: MediaStore | undefined;
  /** Judges the types of files. */
  examiner: Examiner;
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

/** A file that is stored as a whole. */
interface NewFile {
  id: string;
  /** Default: the start of its id. */
  name: string | undefined;
  size: number;
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
  { files, examiner, limitBytes, quotaBytes, onUpload = () => {} }: MediaOptions,
) {
  const { store } = deps;
  const parts = files && new MediaParts(files);
  const limits = parts && new UploadLimits(store.read, parts, { limitBytes, quotaBytes });
  const inTurn = makeTurns();

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

  const judgeFor =
    ({ tenantId }: TenantPrincipal): JudgeHead =>
    async (head, isWhole) =>
      acceptedType(await examiner.examine({ head, isWhole }, { owner: tenantId }));

  /**
   * Checks a whole file while the media store writes it, notes it in the store as a file without a
   * record, makes it visible in the media store, and records it.
   */
  async function keep(
    principal: TenantPrincipal,
    file: NewFile,
    content: AsyncIterable<Uint8Array>,
  ): Promise<Uploaded> {
    const { id, size } = file;
    let type: MediaType | undefined;
    const judging = judged(content, true, judgeFor(principal), (found) => {
      type = found;
    });
    async function* checkedAndNoted() {
      yield* verified(judging, id, size);
      // Now that all bytes are right, and before the media store gives the file its name.
      await noteUnused(principal, id);
    }
    await required().files.put(id, size, checkedAndNoted());
    return deps.write(principal, (tx) => record(tx, principal, file, type as MediaType));
  }

  async function record(
    tx: Tx,
    principal: TenantPrincipal,
    { id, name = id.slice(0, 12), size: bytes }: NewFile,
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
      name,
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
      details: { name, type, bytes },
    });
    return { record: mediaView(row, 0), isNew: true };
  }

  /** Whether the media store has the bytes of a record, unchanged. Reads them all. */
  async function isIntact({ fileId, bytes }: Media): Promise<boolean> {
    const { files: stored } = required();
    if ((await stored.find(fileId))?.bytes !== bytes) return false;
    const content = await stored.open(fileId);
    if (!content) return false;
    try {
      for await (const _ of verified(content, fileId, bytes));
      return true;
    } catch (error) {
      if (hasCode(error, 'digest_mismatch')) return false;
      throw error;
    }
  }

  /**
   * Returns the file if the caller's tenant has it. A file that is missing, cut or changed in the
   * media store is stored again.
   */
  async function known(principal: TenantPrincipal, id: string): Promise<Uploaded | undefined> {
    const row = await findMedia(store.read, principal, id);
    if (!row || !(await isIntact(row))) return undefined;
    const { screens } = await new MediaUses(store.read).of(row);
    return { record: mediaView(row, screens.size), isNew: false };
  }

  async function putWhole(
    principal: TenantPrincipal,
    id: string,
    name: string | undefined,
    { length, read }: UploadBody,
  ): Promise<Uploaded> {
    const { parts: received, limits: admission } = required();
    const wish = { id, size: length, reserved: length };
    const has = await known(principal, id);
    if (has) return has;
    return admission.within(principal, wish, async () => {
      const kept = await keep(principal, { id, name, size: length }, read());
      await received.discard(principal.tenantId, id);
      return kept;
    });
  }

  /** Stores a part. Puts the file together if its parts have all arrived. */
  async function putPart(
    principal: TenantPrincipal,
    name: string | undefined,
    part: PartKey,
    { read }: UploadBody,
  ): Promise<Uploaded> {
    const { tenantId } = principal;
    const { parts: arrived, limits: admission } = required();
    const { id, offset, size, length } = part;
    const { received } = await arrived.find(tenantId, part);
    // A file that is being replaced is not read for each of its parts.
    const has = received === 0 ? await known(principal, id) : undefined;
    if (has) return has;
    return admission.within(principal, { id, size, reserved: 0 }, async () => {
      checkPart(part);
      if (offset !== received) throw wrongOffset(received);
      if (length > 0) {
        const content = sized(read(), length);
        await arrived.add(
          tenantId,
          part,
          offset === 0 ? judged(content, length === size, judgeFor(principal)) : content,
        );
        // The caller's token may have been deleted while the part arrived.
        await deps.write(principal, (tx) => requireTenant(tx, principal));
        if (offset + length < size) return { received: offset + length };
      }
      return inTurn(`${tenantId}/${id}`, () => assemble(principal, name, part));
    });
  }

  /** Puts a file together, unless another request of the tenant has done so. */
  async function assemble(
    principal: TenantPrincipal,
    name: string | undefined,
    { id, size }: PartKey,
  ): Promise<Uploaded> {
    const { tenantId } = principal;
    const { parts: arrived } = required();
    const upload = await arrived.find(tenantId, { id, size });
    if (upload.received < size) {
      const has = await known(principal, id);
      if (has) return has;
      throw wrongOffset(upload.received);
    }
    try {
      const kept = await keep(principal, { id, name, size }, arrived.read(upload));
      await arrived.discard(tenantId, id);
      return kept;
    } catch (error) {
      if (error instanceof SignageError && spoilt.includes(error.code))
        await arrived.discard(tenantId, id);
      throw error;
    }
  }

  async function put(
    principal: TenantPrincipal,
    id: string,
    { name, offset, size }: UploadWish,
    body: UploadBody,
  ): Promise<Uploaded> {
    const { limits: admission, parts: arrived } = required();
    if (!isMediaId(id))
      throw invalid([
        {
          path: 'path.id',
          message: 'must be the SHA-256 of the file, as 64 lower-case hex digits',
        },
      ]);
    try {
      const uploaded = await admission.run(principal, () => {
        if (offset === undefined || size === undefined) return putWhole(principal, id, name, body);
        const part = { id, offset, size, length: body.length };
        return arrived.during(principal.tenantId, part, () => putPart(principal, name, part, body));
      });
      if ('record' in uploaded) onUpload('stored');
      return uploaded;
    } catch (error) {
      if (!hasCode(error, 'media_offset')) onUpload('refused');
      throw error;
    }
  }

  return {
    put,

    /** Returns how much of a file has arrived. Throws `media_not_found` if nothing has. */
    async upload(
      { tenantId }: TenantPrincipal,
      id: string,
      signal?: AbortSignal,
    ): Promise<MediaUpload> {
      const { parts: arrived } = required();
      // An upload may have thousands of parts. Those who list them take turns in their tenant.
      const received = isMediaId(id)
        ? await inTurn(tenantId, () => arrived.received(tenantId, id, signal))
        : 0;
      if (received === 0) throw noSuchMedia();
      return { received };
    },

    /** Ends abandoned uploads. Call it every minute. */
    sweep: async (): Promise<void> => parts?.sweep(),
  };
}

/** Codes of errors after which the received parts of a file are of no use. */
const spoilt: readonly string[] = ['digest_mismatch', 'media_not_accepted'];
