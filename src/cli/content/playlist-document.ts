import { z } from 'zod';
import { epochMs, epochTime } from '../../domain/fields.ts';
import { type Publication, publication } from '../../domain/playlists/playlist.ts';
import { isLocalTime, readValidUntil } from '../input/time.ts';
import { chosenBy } from './chosen-by.ts';

/** A time without a zone, of the venue where the playlist will be. */
export interface LocalEnd {
  local: string;
}

/** A playlist from a file. Its end is in Unix epoch seconds, or `null`. */
export interface WrittenPlaylist<E = never> {
  items: Publication['items'];
  validUntil: number | null | E;
}

const { items } = publication.shape;

const expected = 'must be a playlist: { items: […] }, or a list of items';

const ignored = z.unknown().optional();
/** Members that the service adds to a playlist. */
const storedMembers = {
  id: ignored,
  tenantId: ignored,
  screenId: ignored,
  status: ignored,
  version: ignored,
};

const endNumber = epochTime
  .nullish()
  .transform((time) => (time == null ? null : Math.floor(epochMs(time) / 1000)));

const endText = (nowMs: number) =>
  z.string().transform((text, context) => {
    try {
      return readValidUntil(text, nowMs, '');
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message.trim() });
      return z.NEVER;
    }
  });

function documentWith<E>(end: z.ZodType<number | null | E>) {
  const whole = z
    .strictObject({ items, validUntil: end.optional(), ...storedMembers }, expected)
    .transform(({ items: list, validUntil = null }) => ({ items: list, validUntil }));
  const list = items.transform((all) => ({ items: all, validUntil: null }));
  return chosenBy<WrittenPlaylist<E>>((value) => (Array.isArray(value) ? list : whole));
}

/**
 * The schema of a playlist in a file: a publication, a playlist of the service, or a list of items.
 * `validUntil` may be any text of `--valid-until`. A duration starts at `nowMs`.
 */
export function playlistDocument(nowMs: number) {
  return documentWith<never>(
    chosenBy<number | null>((value) => (typeof value === 'string' ? endText(nowMs) : endNumber)),
  );
}

const localEnd = z.string().transform((local): LocalEnd => ({ local }));

/** Like `playlistDocument`, and keeps an end without a zone for the venue. */
export function localPlaylistDocument(nowMs: number) {
  return documentWith<LocalEnd>(
    chosenBy<number | null | LocalEnd>((value) =>
      typeof value !== 'string' ? endNumber : isLocalTime(value) ? localEnd : endText(nowMs),
    ),
  );
}
