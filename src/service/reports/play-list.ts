import { dayMs, iso, minuteMs } from '../../domain/clock.ts';
import { dayNumber, isFull, secondsOf } from '../../domain/events/plays.ts';
import { sequenceNumber } from '../../domain/events/sequence.ts';
import { epochMs } from '../../domain/fields.ts';
import { asGuid } from '../../domain/id.ts';
import { campaignIdOf } from '../../domain/playlists/campaign.ts';
import { dayOf, type PlayRow, type PlaysQuery } from '../../domain/records/report.ts';
import type { EventPageQuery, StoredEvent } from '../../store/queries.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { venueScopeFilter } from '../lookup.ts';
import { makeNames, type NameOf } from './names.ts';
import { type PlayFilter, passesPlace } from './play-totals.ts';
import { aheadMs, filterOf, purgedBefore } from './report-scope.ts';

export const eventsPerPage = 1000;
const lastTimeMs = Date.UTC(9999, 11, 31);

type Members = Parameters<typeof isFull>[0];

/** Formats an instant as local time with its offset: `2026-11-20T23:00:00-03:00`. */
function localTime(timeMs: number, offsetSeconds: number): string {
  const minutes = Math.abs(Math.trunc(offsetSeconds / 60));
  const two = (number: number) => String(number).padStart(2, '0');
  const offset = `${offsetSeconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return `${iso(timeMs + offsetSeconds * 1000).slice(0, 19)}${offset}`;
}

export async function playRow(
  { event, receivedAt, screenId, venueId, utcOffset = 0 }: StoredEvent,
  nameOf: NameOf,
): Promise<PlayRow> {
  const { creativeId = null, campaignId: campaign, plannedDuration: planned, seq } = event;
  const members = event as unknown as Members;
  const seconds = secondsOf(members);
  const endMs = Math.min(epochMs(members.timestamp), lastTimeMs);
  const startMs = Math.max(0, endMs - Math.round(seconds * 1000));
  const campaignId = event.type === 'play' ? null : String(campaign).toLowerCase();
  const screen = await nameOf('screen', screenId);
  const named = typeof creativeId === 'string' ? creativeId.toLowerCase() : null;
  return {
    venue: await nameOf('venue', venueId),
    screen: screen === null ? null : screen.slice(screen.indexOf('/') + 1),
    item: named === null ? null : await nameOf('creative', named),
    creativeId: named,
    campaign: campaignId === null ? null : await nameOf('campaign', campaignId),
    campaignId,
    localStart: localTime(startMs, utcOffset),
    start: iso(startMs),
    seconds,
    planned: Number.isFinite(planned) ? (planned as number) : null,
    full: isFull(members) ?? null,
    receivedAt: iso(receivedAt),
    seq: sequenceNumber(seq) ?? null,
    screenId,
    venueId,
  };
}

/** Returns the day of a play, when that day began, and the time of the play. */
export function dayOfPlay({ event, utcOffset = 0 }: StoredEvent, days: PlayFilter['days']) {
  const timeMs = Math.max(0, epochMs((event as unknown as Members).timestamp));
  const offset = days === 'venue' ? utcOffset : 0;
  const day = dayNumber(timeMs, offset);
  return { timeMs, day: dayOf(day * dayMs), startMs: day * dayMs - offset * 1000 };
}

/** The list of single plays (docs/protocol.md §5.6). */
export function makePlayList({ store, clock }: ServiceDependencies) {
  /** Returns whether a play is of the report, and of a day that retention has not cut into. */
  function isListed(event: StoredEvent, filter: PlayFilter, purgedMs: number): boolean {
    const { receivedAt, venueId, screenId, simulated = false } = event;
    const { timeMs, day, startMs } = dayOfPlay(event, filter.days);
    const isCut = timeMs <= receivedAt && startMs < purgedMs;
    return !isCut && passesPlace({ venueId, screenId, simulated }, day, filter);
  }

  /** Yields the plays of a report in the order of their receipt, in groups. */
  return async function* (
    principal: TenantPrincipal,
    { campaign, ...scope }: PlaysQuery,
  ): AsyncGenerator<PlayRow[]> {
    const { tenantId } = principal;
    const filter = await filterOf({ store }, principal, scope);
    const campaignId = campaign && (asGuid(campaign) ?? campaignIdOf(tenantId, campaign));
    const purgedMs = await purgedBefore(store);
    const nameOf = makeNames(store.read, tenantId);
    const query: EventPageQuery = {
      tenantId,
      ...venueScopeFilter(principal),
      order: 'asc',
      limit: eventsPerPage,
      from: filter.from === undefined ? undefined : Date.parse(filter.from) - aheadMs,
      // A slow reader whose token is deleted meanwhile gets nothing new. The clock of a database
      // may be ahead a little.
      to: clock.now() + minuteMs,
      type: campaignId ? 'impression' : undefined,
    };
    for (let after: string | null | undefined; after !== null; ) {
      const page = await store.events({ ...query, ...(after && { after }) });
      const rows: PlayRow[] = [];
      for (const event of page.items) {
        const { type, campaignId: id } = event.event;
        if (type !== 'impression' && type !== 'play') continue;
        if (campaignId && String(id).toLowerCase() !== campaignId) continue;
        if (isListed(event, filter, purgedMs)) rows.push(await playRow(event, nameOf));
      }
      if (rows.length > 0) yield rows;
      after = page.next;
    }
  };
}
