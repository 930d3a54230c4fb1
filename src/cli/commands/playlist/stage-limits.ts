import type { CommandContext } from '../../program/context.ts';
import type { Limit } from './stages.ts';

/** A part of the screens: `count` of `total`. */
interface Share {
  count: number;
  total: number;
}

/**
 * Formats the limit that a share exceeds: `errors>1%: 2 of 50 screens (4%)`. Returns `undefined` if
 * the share is within the limit.
 */
export function exceeded(limit: Limit, { count, total }: Share): string | undefined {
  if (total === 0 || (count / total) * 100 <= limit.percent) return undefined;
  const percent = Math.round((count / total) * 1000) / 10;
  return `${limit.text}: ${count.toLocaleString('en')} of ${total.toLocaleString('en')} screens (${percent}%)`;
}

/** Returns the id of the newest event, or `null` if there is none. */
export async function newestEvent(call: CommandContext): Promise<string | null> {
  return (await call.read('listEvents', { query: { limit: 1 } })).items[0]?.id ?? null;
}

/**
 * Collects the screens whose TVs have reported a playback error since the event `after`. Each call
 * reads only new events. Starts after an event instead of at a time, because the clocks of this
 * machine and of the service may differ.
 */
export class PlaybackErrors {
  readonly #call: CommandContext;
  readonly #screenIds = new Set<string>();
  #after: string | null;

  constructor(call: CommandContext, after: string | null) {
    this.#call = call;
    this.#after = after;
  }

  /** Reads new events. Returns the ids of all screens with an error so far. */
  async read(): Promise<ReadonlySet<string>> {
    const query = {
      type: 'playback_error',
      order: 'asc' as const,
      ...(this.#after !== null && { after: this.#after }),
    };
    for await (const page of this.#call.pages('listEvents', { query })) {
      for (const { screenId } of page) this.#screenIds.add(screenId);
      this.#after = page.at(-1)?.id ?? this.#after;
    }
    return this.#screenIds;
  }
}

/**
 * Counts the screens whose TV has not fetched the published version. Screens without a TV do not
 * count.
 *
 * @param versions the published version of each screen, by its id
 */
export async function countUnfetched(
  call: CommandContext,
  versions: ReadonlyMap<string, number>,
): Promise<Share> {
  const share = { count: 0, total: 0 };
  for await (const page of call.pages('listDevices', { query: { state: 'bound' } })) {
    for (const { screenId, lastPlaylistVersion } of page) {
      const version = versions.get(screenId);
      if (version === undefined) continue;
      share.total++;
      if (lastPlaylistVersion !== version) share.count++;
    }
  }
  return share;
}
