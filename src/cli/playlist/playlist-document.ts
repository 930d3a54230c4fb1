import { z } from 'zod';
import { epochMs, epochTime } from '../../domain/fields.ts';
import { type Publication, publication } from '../../domain/playlists/playlist.ts';
import { chosenBy } from '../options/chosen-by.ts';
import { readValidUntil } from '../options/time.ts';

/** A playlist from a file. Its end is in Unix epoch seconds, or `null`. */
export interface WrittenPlaylist {
  items: Publication['items'];
  validUntil: number | null;
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

/**
 * The schema of a playlist in a file: a publication, a playlist of the service, or a list of items.
 * `validUntil` may be any text of `--valid-until`. A duration starts at `nowMs`.
 */
export function playlistDocument(nowMs: number) {
  const end = chosenBy<number | null>((value) =>
    typeof value === 'string' ? endText(nowMs) : endNumber,
  );
  const whole = z
    .strictObject({ items, validUntil: end.optional(), ...storedMembers }, expected)
    .transform(({ items: list, validUntil = null }) => ({ items: list, validUntil }));
  const list = items.transform((all) => ({ items: all, validUntil: null }));
  return chosenBy<WrittenPlaylist>((value) => (Array.isArray(value) ? list : whole));
}
