import type { ActivePlaylist, PlaylistItem } from '../client/entities.ts';
import { secondMs } from '../domain/clock.ts';
import { isObject } from '../domain/json/is-object.ts';
import type { SavedPlaylist } from './state.ts';

/** The playlist that holds now. */
export interface Present {
  /** With the items and the `entryId` that hold now. The same object until they change. */
  playlist: ActivePlaylist;
  /** End by the TV's clock, in Unix epoch milliseconds. `Infinity` if no end is known. */
  untilMs: number;
  /** The playlist that holds from `untilMs` on. */
  next: ActivePlaylist | undefined;
}

/** A playlist that holds from an instant on, in Unix epoch seconds. */
interface Switch {
  at: number;
  playlist: ActivePlaylist;
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const isItems = (value: unknown): value is PlaylistItem[] =>
  Array.isArray(value) && value.every(isObject);

type Below = ActivePlaylist['below'];

/**
 * Returns the playlist beneath a playlist, or `undefined` if there is none. The playlist is that of
 * `PlaylistSwitches` (docs/protocol.md §2.3).
 */
function beneath(playlist: ActivePlaylist): ActivePlaylist | undefined {
  const { below } = playlist as { below?: unknown };
  if (!isObject(below) || !isItems(below.items)) return undefined;
  const { entryId, items, below: lower } = below;
  if (entryId !== null && typeof entryId !== 'string') return undefined;
  return { ...playlist, entryId, items, below: lower as Below };
}

/**
 * Returns the switches of `upcoming`, in order (docs/protocol.md §2.3). Returns `undefined` without
 * spans, and if `upcoming` cannot be understood.
 */
function switchesOf(answer: ActivePlaylist): Switch[] | undefined {
  const { upcoming, entries, base, items } = answer as { [name: string]: unknown } & ActivePlaylist;
  if (!Array.isArray(upcoming) || upcoming.length === 0) return undefined;
  const playlists = new Map<string | null, ActivePlaylist>();
  const nothing = { ...answer, entryId: null, items: [], below: undefined };
  // The answer says what lies beneath the present span. Beneath another entry is the base.
  const belowOf = (entryId: string | null): Below => {
    if (entryId === (answer.entryId ?? null)) return answer.below;
    return entryId !== null && isItems(base)
      ? { layer: 'base', entryId: null, items: base }
      : undefined;
  };
  const switches: Switch[] = [];
  let endsAt = Number.NEGATIVE_INFINITY;
  for (const span of upcoming as unknown[]) {
    if (!isObject(span)) return undefined;
    const { from, until, entryId } = span;
    if (!isTime(from) || !isTime(until) || from >= until || from < endsAt) return undefined;
    if (entryId !== null && typeof entryId !== 'string') return undefined;
    const content = entryId === null ? base : isObject(entries) && entries[entryId];
    if (!isItems(content)) return undefined;
    const playlist = playlists.get(entryId) ?? {
      ...answer,
      entryId,
      items: content,
      below: belowOf(entryId),
    };
    playlists.set(entryId, playlist);
    const isGap = switches.length === 0 ? items.length === 0 : from > endsAt;
    if (isGap) switches.push({ at: endsAt, playlist: nothing });
    switches.push({ at: from, playlist });
    endsAt = until;
  }
  return switches;
}

/** Returns a playlist and those beneath it, the highest first. */
export function withBeneath(playlist: ActivePlaylist): readonly ActivePlaylist[] {
  const lower = beneath(playlist);
  return lower ? [playlist, ...withBeneath(lower)] : [playlist];
}

/**
 * Returns the playlists that an answer contains, in the order in which they hold, and then those
 * beneath them.
 */
export function playlistsOf(answer: ActivePlaylist): readonly ActivePlaylist[] {
  const all = switchesOf(answer)?.map(({ playlist }) => playlist) ?? [answer];
  return [...all, ...all.flatMap((one) => withBeneath(one).slice(1))];
}

/** Finds the playlist that holds now. Reads `upcoming` once for each answer of the service. */
export class PlaylistSwitches {
  #answer: ActivePlaylist | undefined;
  #switches: readonly Switch[] | undefined;

  /**
   * Returns what a saved playlist says for a time of the TV's clock. After the last span, the
   * playlist of that span goes on. Without usable spans, the playlist ends at its `validUntil`.
   * @param speed simulated seconds per second of the service
   */
  at({ answer, validUntilMs }: SavedPlaylist, nowMs: number, speed: number): Present | undefined {
    if (answer !== this.#answer) {
      this.#answer = answer;
      this.#switches = switchesOf(answer);
    }
    const switches = this.#switches;
    if (!switches) {
      if (validUntilMs <= nowMs) return undefined;
      return { playlist: answer, untilMs: validUntilMs, next: undefined };
    }
    const startMs = ({ at }: Switch) => validUntilMs + (at - answer.validUntil) * secondMs * speed;
    // The first one holds now, says the service. The TV's estimate of its start may be too late.
    let index = 0;
    for (const [place, one] of switches.entries()) if (startMs(one) <= nowMs) index = place;
    const next = switches[index + 1];
    return {
      playlist: (switches[index] as Switch).playlist,
      untilMs: next ? startMs(next) : Number.POSITIVE_INFINITY,
      next: next?.playlist,
    };
  }
}
