import { SignageError } from '../../domain/error.ts';
import type { Media, MediaUse } from '../../domain/media/rows.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import type { Reader } from '../../store/store.ts';
import type { Principal } from '../context.ts';

export const mediaRowId = (tenantId: string, id: string) => `${tenantId}/${id}`;

/** What uses a file. A venue without screens may use it, too. */
export interface Uses {
  isUsed: boolean;
  /** Ids of the screens whose kept playlists or layers name the file. */
  screens: ReadonlySet<string>;
}

/**
 * Looks up uses of files for one request or change. Files that the same contents name share a
 * look-up, because all the files of a chain may be on all its screens.
 */
export class MediaUses {
  readonly #reader: Reader;
  readonly #byContents = new Map<string, Promise<Uses>>();
  readonly #screensOfVenues = new Map<string, Promise<readonly string[]>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async of({ id }: Pick<Media, 'id'>): Promise<Uses> {
    const [contents, earlier] = await Promise.all([
      this.#reader.ids('contentMedia', 'mediaId', [id]),
      this.#reader.select('mediaUses', 'mediaId', [id]),
    ]);
    const contentIds = [...contents].sort();
    const key = contentIds.join();
    // One at a time, so that the store may pause between two of them.
    const uses = this.#byContents.get(key) ?? this.#inTurn(() => this.#ofContents(contentIds));
    this.#byContents.set(key, uses);
    return earlier.length === 0 ? uses : this.#withEarlier(await uses, earlier);
  }

  /**
   * Whether the caller may see a file of its tenant. A token bound to venues may see what it has
   * uploaded, and what the screens of its venues use.
   */
  async isVisible(
    { venueIds, actor }: Pick<Principal, 'venueIds' | 'actor'>,
    row: Media,
  ): Promise<boolean> {
    if (venueIds === null || row.tokenIds.includes(String(actor.id))) return true;
    const { screens } = await this.of(row);
    if (screens.size === 0) return false;
    return (await this.#screensIn(venueIds)).some((id) => screens.has(id));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #ofContents(contentIds: readonly string[]): Promise<Uses> {
    if (contentIds.length === 0) return { isUsed: false, screens: new Set() };
    const screens = await this.#reader.ids('screenContents', 'contentId', contentIds);
    const layers = await this.#reader.ids('layers', 'contentId', contentIds);
    const owners = [...layers].map((id) => id.split('/') as [string, string]);
    return this.#withOwners({ isUsed: screens.size > 0, screens }, owners);
  }

  async #withEarlier(uses: Uses, earlier: readonly MediaUse[]): Promise<Uses> {
    const owners: [string, string][] = [];
    for (const use of earlier)
      if (await isInUse(this.#reader, use)) owners.push([use.level, use.ownerId]);
    return this.#withOwners(uses, owners);
  }

  /** Adds screens, and the screens of venues. */
  async #withOwners(uses: Uses, owners: readonly [level: string, id: string][]): Promise<Uses> {
    if (owners.length === 0) return uses;
    const screens = new Set(uses.screens);
    for (const [level, id] of owners)
      for (const screenId of level === 'venue' ? await this.#screensIn([id]) : [id])
        screens.add(screenId);
    return { isUsed: true, screens };
  }

  #screensIn(venueIds: readonly string[]): Promise<readonly string[]> {
    const key = venueIds.join();
    const screens =
      this.#screensOfVenues.get(key) ??
      this.#reader.select('screens', 'venueId', venueIds).then((rows) => rows.map(({ id }) => id));
    this.#screensOfVenues.set(key, screens);
    return screens;
  }
}

function namesMedia({ schedule, takeover }: Layers, mediaId: string): boolean {
  const named = [...(schedule?.entries ?? []), ...(takeover ? [takeover] : [])];
  return named.some(({ mediaIds }) => mediaIds.some((id) => mediaId.endsWith(`/${id}`)));
}

/** Whether a use that version 0.1.0 noted still holds. */
async function isInUse(
  reader: Pick<Reader, 'get'>,
  { level, ownerId, mediaId, version }: MediaUse,
): Promise<boolean> {
  if (version === null) {
    const layers = await reader.get('layers', `${level}/${ownerId}`);
    return layers !== undefined && namesMedia(layers, mediaId);
  }
  const newest = await reader.get('playlists', ownerId);
  return newest !== undefined && (newest.version === version || newest.past.includes(version));
}

/** Throws `media_not_found` unless the caller may see all these files. */
export async function requireMedia(
  tx: Reader,
  principal: Principal,
  ids: readonly string[],
): Promise<void> {
  const uses = new MediaUses(tx);
  const tenantId = String(principal.tenantId);
  const rows = await Promise.all(ids.map((id) => tx.get('media', mediaRowId(tenantId, id))));
  for (const [place, row] of rows.entries()) {
    if (row && (await uses.isVisible(principal, row))) continue;
    throw new SignageError(
      'media_not_found',
      `The playlist names the file ${ids[place]}, which the service does not have. Upload it first.`,
    );
  }
}
