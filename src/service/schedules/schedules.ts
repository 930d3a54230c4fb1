import { isDeepStrictEqual } from 'node:util';
import { dayMs } from '../../domain/clock.ts';
import { invalid, SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import { publishedContent } from '../../domain/playlists/playlist-content.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import type { Screen, Venue } from '../../domain/records/rows.ts';
import { needsTimezone } from '../../domain/schedule/entry-times.ts';
import type { Layers, StoredEntry, StoredSchedule } from '../../domain/schedule/rows.ts';
import type { Schedule, ScheduleView, TakeoverView } from '../../domain/schedule/schedule.ts';
import { type Reader, readContent, type Tx } from '../../store/store.ts';
import { confirmedTime } from '../confirmed-time.ts';
import { type Principal, recordChange, type ServiceDependencies } from '../context.ts';
import { lookUp, venuesOf } from '../lookup.ts';
import { requireMedia } from '../media/media-uses.ts';
import type { PlaylistQuota } from '../versions/playlist-quota.ts';
import { storeItems } from '../versions/versions.ts';
import { layersId, layersOf, type ScheduleLevel } from './layers.ts';

/** Retention of replaced schedules, and their maximum number (docs/protocol.md §5.18). */
const pastMs = 90 * dayMs;
const maxPast = 200;

/** A schedule and its revision (docs/protocol.md §5.10). */
export interface RevisedSchedule {
  schedule: ScheduleView;
  etag: string;
}

const revisionOf = (layers: Layers | undefined) =>
  layers?.schedule ? revision.schedule(layers.schedule) : undefined;

/** Reads items that layers name. Throws `store_damaged` if they are lost. */
export async function readItems(
  reader: Pick<Reader, 'get'>,
  contentId: string,
): Promise<TakeoverView['items']> {
  const content = await readContent(reader, contentId);
  if (content) return JSON.parse(content.items);
  throw new SignageError('store_damaged', 'The items are not in the store. Set them again.');
}

/** Throws `timezone_required` if entries have local times that no time zone gives a meaning. */
function requireTimezoneOf(
  entries: readonly Pick<StoredEntry, 'at'>[],
  venue: Pick<Venue, 'timezone'> | undefined,
): void {
  if (venue?.timezone != null || !entries.some(needsTimezone)) return;
  throw new SignageError(
    'timezone_required',
    'The entries have local times, and the venue has no time zone: set its timezone first.',
  );
}

async function viewOf(
  reader: Pick<Reader, 'get'>,
  { entries }: StoredSchedule,
): Promise<ScheduleView> {
  const shown: ScheduleView['entries'] = [];
  for (const { name, days, from, to, dates, at, until, contentId } of entries)
    shown.push({
      ...(name !== null && { name }),
      ...(days && { days: [...days] }),
      ...(from !== null && { from }),
      ...(to !== null && { to }),
      ...(dates && {
        dates: {
          ...(dates.from !== null && { from: dates.from }),
          ...(dates.until !== null && { until: dates.until }),
        },
      }),
      ...(at !== null && { at: at / 1000 }),
      ...(until !== null && { until: until / 1000 }),
      ...(contentId === null
        ? { base: true as const }
        : { items: await readItems(reader, contentId) }),
    });
  return { entries: shown };
}

const wholeSeconds = (ms: number | undefined) =>
  ms === undefined ? null : Math.floor(ms / 1000) * 1000;

/** Schedules of screens and venues (docs/protocol.md §5.18). */
export function makeSchedules(deps: ServiceDependencies, quota: PlaylistQuota) {
  const { store } = deps;
  const change = (verb: AuditVerb<'schedule'>, level: ScheduleLevel, owner: Screen | Venue) => ({
    action: `schedule.${verb}` as const,
    subject: { kind: level, id: owner.id },
    tenantId: owner.tenantId,
    venueIds: venuesOf(level, owner),
  });

  async function storeEntries(
    tx: Tx,
    principal: Principal,
    tenantId: string,
    { entries }: Schedule,
  ): Promise<StoredEntry[]> {
    const contents = entries.map(({ items }) => items && publishedContent(tenantId, items, null));
    const named = contents.flatMap((content) => content?.mediaIds ?? []);
    await requireMedia(tx, principal, [...new Set(named)]);
    const stored: StoredEntry[] = [];
    for (const [place, { name, days, from, to, dates, at, until }] of entries.entries()) {
      const content = contents[place];
      const kept = content && (await storeItems(tx, tenantId, content, quota));
      const items = {
        contentId: kept?.contentId ?? null,
        mediaIds: kept?.mediaIds ?? [],
        bytes: content ? Buffer.byteLength(content.items) : 0,
      };
      stored.push({
        name: name ?? null,
        days: days ?? null,
        from: from ?? null,
        to: to ?? null,
        dates: dates ? { from: dates.from ?? null, until: dates.until ?? null } : null,
        at: wholeSeconds(at),
        until: wholeSeconds(until),
        ...items,
      });
    }
    return stored;
  }

  /** Keeps a replaced schedule, and forgets those whose time is over. */
  async function keepPast(tx: Tx, { ownerId, tenantId, schedule }: Layers): Promise<void> {
    if (!schedule) return;
    const past = await tx.select('pastSchedules', 'ownerId', [ownerId]);
    const keptFromMs = (await confirmedTime(tx, tx.now)) - pastMs;
    for (const [place, { id, until }] of past.entries())
      if (until < keptFromMs || past.length - place >= maxPast)
        await tx.delete('pastSchedules', id);
    const { entries, since } = schedule;
    await tx.put('pastSchedules', {
      id: `${ownerId}/${tx.stamp}`,
      tenantId,
      ownerId,
      entries: entries.map(({ contentId, mediaIds, bytes, ...times }) => ({
        ...times,
        ...(contentId === null && { base: true }),
      })),
      since,
      until: tx.stamp,
    });
  }

  /** Throws `schedule_not_found`. */
  async function get(
    principal: Principal,
    level: ScheduleLevel,
    id: string,
  ): Promise<RevisedSchedule> {
    const owner = await lookUp(store.read, principal, level, id);
    const layers = await store.read.get('layers', layersId(level, owner.id));
    if (!layers?.schedule)
      throw new SignageError('schedule_not_found', `This ${level} has no schedule of its own.`);
    const { schedule } = layers;
    return { schedule: await viewOf(store.read, schedule), etag: revision.schedule(schedule) };
  }

  /**
   * Sets the schedule. Setting the same schedule again has no effect. Throws `timezone_required`,
   * `media_not_found`.
   */
  async function put(
    principal: Principal,
    level: ScheduleLevel,
    id: string,
    body: Schedule,
    precondition: Precondition = {},
  ): Promise<RevisedSchedule> {
    const putOnce = async (tx: Tx) => {
      const owner = await lookUp(tx, principal, level, id);
      const before = await layersOf(tx, level, owner);
      checkPrecondition(precondition, revisionOf(before));
      if (level === 'venue' && body.entries.length === 0)
        throw invalid([
          {
            path: '/entries',
            message: 'must have an entry. To remove the schedule of a venue, use DELETE',
          },
        ]);
      const entries = await storeEntries(tx, principal, owner.tenantId, body);
      const venueId = 'venueId' in owner ? owner.venueId : owner.id;
      requireTimezoneOf(entries, await tx.get('venues', venueId));
      const schedule = { entries, since: tx.stamp };
      if (!isDeepStrictEqual(before.schedule?.entries, entries)) {
        await keepPast(tx, before);
        await tx.put('layers', { ...before, schedule });
        await recordChange(deps, tx, principal, {
          ...change('set', level, owner),
          details: { entries: entries.length },
        });
      }
      return { schedule: await viewOf(tx, schedule), etag: revision.schedule(schedule) };
    };
    return quota.run(() => deps.write(principal, putOnce));
  }

  async function remove(
    principal: Principal,
    level: ScheduleLevel,
    id: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const owner = await lookUp(tx, principal, level, id);
      const before = await layersOf(tx, level, owner);
      checkPrecondition(precondition, revisionOf(before));
      if (!before.schedule) return;
      await keepPast(tx, before);
      await tx.put('layers', { ...before, schedule: null });
      await recordChange(deps, tx, principal, change('clear', level, owner));
    });
  }

  return { get, put, remove };
}
