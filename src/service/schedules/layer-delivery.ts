import { BoundedMap } from '../../domain/bounded-map.ts';
import { SignageError } from '../../domain/error.ts';
import { TwoPartBody } from '../../domain/json/two-part-body.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { nothingId } from '../../domain/schedule/entry-times.ts';
import type { ChainAnswer } from '../../origin/origin.ts';
import { type Reader, readContent } from '../../store/store.ts';
import type { SystemDependencies } from '../context.ts';
import { type DeliveredPlaylist, deliver, recordedVersion } from './delivered.ts';
import type { ScreenLayers } from './layers.ts';
import { type Base, type PlanBasis, type Playable, planOf } from './plan.ts';
import { makeSwitchRecorder, type RecordedSwitch } from './record-switches.ts';

/** What a TV gets at the moment, and until when that holds, in Unix epoch milliseconds. */
export interface CurrentDelivery {
  playlist: Pick<DeliveredPlaylist, 'version' | 'etag' | 'hasMedia'> | undefined;
  endsAtMs: number;
}

/** Memory for rendered items with all that is upcoming. */
const renderedBytes = 16 * 1024 * 1024;

/** Limit of the items of a layer beneath, in bytes (docs/protocol.md §2.3). */
const maxBelowBytes = 64 * 1024;

/** Returns as many of the first items as fit. A TV plays them only if all above them fails. */
function firstItems(itemsJson: string): string {
  if (Buffer.byteLength(itemsJson) <= maxBelowBytes) return itemsJson;
  const texts: string[] = [];
  let bytes = 1;
  for (const item of JSON.parse(itemsJson) as unknown[]) {
    const text = JSON.stringify(item);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > maxBelowBytes) break;
    texts.push(text);
  }
  return `[${texts.join(',')}]`;
}

/**
 * Puts takeovers and schedules above the playlists of screens (docs/protocol.md §5.18). A switch is
 * recorded by the first request that meets it.
 *
 * @param reader reads rows, and must not hang while the store is unavailable
 */
export function makeLayerDelivery(deps: SystemDependencies, reader: Pick<Reader, 'get'>) {
  const { store, clock } = deps;
  const rendered = new BoundedMap<string, Buffer>(renderedBytes / 2, ({ length }) => length);
  const record = makeSwitchRecorder(deps);

  /**
   * Returns the version of what is due. While the store cannot record a switch, that is the last
   * version. The ETag still changes.
   */
  async function versionOf(
    screen: Screen,
    playable: Playable | undefined,
    { layers, base }: PlanBasis,
  ): Promise<RecordedSwitch> {
    const known = recordedVersion(playable, base, layers.own);
    if (known) return { version: known };
    try {
      return await record({ screen, playable, layers, base });
    } catch {
      const { delivered } = layers.own ?? {};
      const version = Math.max(delivered?.version ?? 0, base?.version ?? 0, 1);
      const playlistId = base?.playlistId ?? delivered?.playlistId ?? screen.id;
      const publishedAt = delivered?.at ?? base?.publishedAt ?? 0;
      return { version: { playlistId, version, publishedAt } };
    }
  }

  /** Returns what a TV gets. Begins again if the rows of the plan change before a switch. */
  async function delivered(
    screen: Screen,
    basis: PlanBasis,
  ): Promise<{ playlist: DeliveredPlaylist | undefined; endsAtMs: number }> {
    // The time of the store, so that all instances switch at the same moment.
    const nowMs = store.now();
    const plan = await planOf(reader, screen, { ...basis, nowMs });
    const endsAtMs = clock.now() + plan.endsAtMs - nowMs;
    if (!plan.spans.some(({ playable }) => playable)) return { playlist: undefined, endsAtMs };
    const recorded = await versionOf(screen, plan.spans[0].playable, basis);
    if ('changed' in recorded) return delivered(screen, recorded.changed);
    const { version } = recorded;
    return { playlist: version && deliver(plan, basis.base, version, nowMs), endsAtMs };
  }

  async function itemsOf(contentId: string): Promise<string> {
    const content = await readContent(reader, contentId);
    if (content) return content.items;
    throw new SignageError(
      'origin_bad_answer',
      'The items of an entry of the schedule are not in the store.',
    );
  }

  /** Renders the layers beneath, each within the one above it. */
  async function belowText(beneath: DeliveredPlaylist['beneath']): Promise<string> {
    const [highest, ...lower] = beneath;
    if (!highest) return '';
    const { layer, playable } = highest;
    const items = firstItems(await itemsOf(playable.contentId));
    const start = JSON.stringify({ layer, entryId: playable.entryId }).slice(0, -1);
    return `,"below":${start},"items":${items}${await belowText(lower)}}`;
  }

  /** Renders the end of the body: the items, all that is upcoming, and what lies beneath. */
  async function render({
    playable,
    upcoming,
    beneath,
    digest,
  }: DeliveredPlaylist): Promise<Buffer> {
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
    const bytes = Buffer.from(`${text}${await belowText(beneath)}}`);
    rendered.offer(digest, bytes);
    return bytes;
  }

  return {
    /** Puts the layers of a screen above the answer of the origins. */
    async above(screen: Screen, layers: ScreenLayers, answer: ChainAnswer): Promise<ChainAnswer> {
      // A copy is served while the store cannot be read, so its layers are not known either.
      if (
        answer.kind === 'failed' ||
        (answer.kind === 'playlist' && answer.source === 'object-store')
      )
        return answer;
      try {
        const row = answer.kind === 'playlist' ? answer.playlist.row : undefined;
        const { playlist } = await delivered(screen, { layers, base: row });
        if (!playlist) return { kind: 'none' };
        const { playlistId: id, version, validUntil, etag, hasMedia, playable } = playlist;
        const { tenantId, id: screenId } = screen;
        const status = 'active';
        const entryId = playable?.entryId ?? null;
        const head = { id, tenantId, screenId, status, version, validUntil, entryId };
        const start = `${JSON.stringify(head).slice(0, -1)},"items":`;
        const body = new TwoPartBody(start, await render(playlist));
        const source = answer.kind === 'playlist' && entryId === null ? answer.source : 'store';
        return { kind: 'playlist', playlist: { version, etag, body, hasMedia, row }, source };
      } catch (cause) {
        return { kind: 'failed', cause };
      }
    },

    /** Returns the version of the playlist of `above`, without rendering it. */
    current: (
      screen: Screen,
      layers: ScreenLayers,
      base: Base | undefined,
    ): Promise<CurrentDelivery> => delivered(screen, { layers, base }),
  };
}

export type LayerDelivery = ReturnType<typeof makeLayerDelivery>;
