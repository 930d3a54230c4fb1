import { BoundedMap } from '../../domain/bounded-map.ts';
import { SignageError } from '../../domain/error.ts';
import { TwoPartBody } from '../../domain/json/two-part-body.ts';
import { allOf, andThen, type MaybePromise, orElse } from '../../domain/maybe-promise.ts';
import { playlistStatusAt } from '../../domain/playlists/playlist.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { nothingId } from '../../domain/schedule/entry-times.ts';
import type { ChainAnswer, PlaylistChain } from '../../origin/origin.ts';
import type { PlaylistSummary } from '../../store/queries.ts';
import { type Reader, readContent } from '../../store/store.ts';
import type { SystemDependencies } from '../context.ts';
import {
  type DeliveredPlaylist,
  type DeliveredVersion,
  deliver,
  recordedVersion,
} from './delivered.ts';
import { readLayers, type ScreenLayers } from './layers.ts';
import type { Base, Plan } from './plan.ts';
import { hasLayers, planOf } from './plan-of-screen.ts';
import { makeSwitchRecorder } from './record-switches.ts';

interface DeliveryOptions {
  /** Asks the origins of playlists. */
  ask: PlaylistChain;
  /** Reads rows. It must not hang while the store is unavailable. */
  reader: Pick<Reader, 'get'>;
}

/** What a TV gets at the moment, and until when that holds, in Unix epoch milliseconds. */
export interface CurrentDelivery {
  playlist: Pick<DeliveredPlaylist, 'version' | 'etag' | 'hasMedia'> | undefined;
  endsAtMs: number;
}

/** Memory for rendered items with all that is upcoming. */
const renderedBytes = 16 * 1024 * 1024;

/**
 * Puts takeovers and schedules above the playlists of screens (docs/protocol.md §5.18). A switch is
 * recorded by the first request that meets it.
 */
export function makeDelivery(deps: SystemDependencies, { ask, reader }: DeliveryOptions) {
  const { store, clock } = deps;
  const rendered = new BoundedMap<string, Buffer>(renderedBytes / 2, ({ length }) => length);
  const record = makeSwitchRecorder(deps);

  const layersOfScreen = (screen: Screen): MaybePromise<ScreenLayers> =>
    orElse(
      () => readLayers(reader, screen),
      () => ({ own: undefined, venue: undefined }),
    );

  /**
   * Returns the version of what is due. While the store cannot record a switch, that is the last
   * version. The ETag still changes.
   */
  async function versionOf(
    screen: Screen,
    plan: Plan,
    base: Base | undefined,
    { own }: ScreenLayers,
  ): Promise<DeliveredVersion | undefined> {
    const known = recordedVersion(plan.spans[0].playable, base, own);
    if (known) return known;
    try {
      return await record(screen);
    } catch {
      const { delivered } = own ?? {};
      const last = Math.max(delivered?.version ?? 0, base?.version ?? 0, 1);
      const playlistId = base?.playlistId ?? delivered?.playlistId ?? screen.id;
      return { playlistId, version: last, publishedAt: delivered?.at ?? base?.publishedAt ?? 0 };
    }
  }

  async function delivered(
    screen: Screen,
    layers: ScreenLayers,
    base: Base | undefined,
  ): Promise<{ playlist: DeliveredPlaylist | undefined; endsAtMs: number }> {
    // The time of the store, so that all instances switch at the same moment.
    const nowMs = store.now();
    const plan = await planOf(reader, screen, { layers, base, nowMs });
    const endsAtMs = clock.now() + plan.endsAtMs - nowMs;
    const isOver = !plan.spans.some(({ playable }) => playable);
    const version = isOver ? undefined : await versionOf(screen, plan, base, layers);
    return { playlist: version && deliver(plan, base, version, nowMs), endsAtMs };
  }

  async function itemsOf(contentId: string): Promise<string> {
    const content = await readContent(reader, contentId);
    if (content) return content.items;
    throw new SignageError(
      'origin_bad_answer',
      'The items of an entry of the schedule are not in the store.',
    );
  }

  /** Renders the end of the body: the items, and all that is upcoming. */
  async function render({ playable, upcoming, digest }: DeliveredPlaylist): Promise<Buffer> {
    const known = rendered.get(digest);
    if (known) return known;
    let text = playable ? await itemsOf(playable.contentId) : '[]';
    if (upcoming) {
      const entries: string[] = [];
      for (const [id, { contentId }] of upcoming.entries)
        entries.push(`${JSON.stringify(id)}:${await itemsOf(contentId)}`);
      const { spans, base, endsWithNothing } = upcoming;
      if (endsWithNothing) entries.push(`"${nothingId}":[]`);
      text += `,"upcoming":${JSON.stringify(spans)},"entries":{${entries.join(',')}}`;
      if (base) text += `,"base":${await itemsOf(base.contentId)}`;
    }
    const bytes = Buffer.from(`${text}}`);
    rendered.offer(digest, bytes);
    return bytes;
  }

  /** Puts the layers above the answer of the origins. */
  async function layered(
    screen: Screen,
    layers: ScreenLayers,
    answer: ChainAnswer,
  ): Promise<ChainAnswer> {
    // A copy is served while the store cannot be read, so its layers are not known either.
    if (
      answer.kind === 'failed' ||
      (answer.kind === 'playlist' && answer.source === 'object-store')
    )
      return answer;
    try {
      const base = answer.kind === 'playlist' ? answer.playlist.row : undefined;
      const { playlist } = await delivered(screen, layers, base);
      if (!playlist) return { kind: 'none' };
      const { playlistId: id, version, validUntil, etag, hasMedia, playable } = playlist;
      const { tenantId, id: screenId } = screen;
      const status = 'active';
      const entryId = playable?.entryId ?? null;
      const head = { id, tenantId, screenId, status, version, validUntil, entryId };
      const start = `${JSON.stringify(head).slice(0, -1)},"items":`;
      const body = new TwoPartBody(start, await render(playlist));
      const source = answer.kind === 'playlist' && entryId === null ? answer.source : 'store';
      const row = answer.kind === 'playlist' ? answer.playlist.row : undefined;
      return { kind: 'playlist', playlist: { version, etag, body, hasMedia, row }, source };
    } catch (cause) {
      return { kind: 'failed', cause };
    }
  }

  return {
    /** Returns what a TV plays now, and what later. Asks the origins as `PlaylistChain` does. */
    ask(screen: Screen): MaybePromise<ChainAnswer> {
      return andThen(allOf([layersOfScreen(screen), ask(screen)]), ([layers, answer]) =>
        hasLayers(layers, store.now()) ? layered(screen, layers, answer) : answer,
      );
    },

    /**
     * Returns the version that `ask` returns now, without asking the on-demand source. `undefined`
     * without layers.
     */
    current(
      screen: Screen,
      summary: PlaylistSummary | undefined,
    ): MaybePromise<CurrentDelivery | undefined> {
      return andThen(layersOfScreen(screen), (layers) => {
        const nowMs = store.now();
        if (!hasLayers(layers, nowMs)) return undefined;
        const isActive = summary && playlistStatusAt(summary, nowMs) === 'active';
        return delivered(screen, layers, isActive ? summary : undefined);
      });
    },
  };
}

export type Delivery = ReturnType<typeof makeDelivery>;
