import { secondMs } from '../../domain/clock.ts';
import { asGuid } from '../../domain/id.ts';
import type { Page } from '../../domain/paging.ts';
import type { TvRequestQuery, TvRequestView } from '../../domain/records/tv-request.ts';
import type { LoggedTvRequest } from '../../store/queries.ts';
import type { RequestSubject, ServiceDependencies, TenantCaller } from '../context.ts';
import { venueScopeFilter } from '../lookup.ts';
import { afterId } from '../paging.ts';
import {
  isRefused,
  newestOf,
  type RecentRequest,
  RecentRequests,
  type RequestPlace,
} from './recent-requests.ts';

/** Interval at which screens are looked up, and refused requests are written to the store. */
const flushMs = secondMs;
/**
 * Limits of one flush. They bound the work that rejected requests cause in the store. Further
 * requests are dropped and counted.
 */
const maxLookUps = 50;
const maxRefused = 50;
/** Limit per screen of one flush, so that requests about one screen do not displace all others. */
const maxPerScreen = 5;

/** A request whose screen is not looked up yet. */
interface UnplacedRequest {
  namedId: string;
  request: RecentRequest;
}

/** The log of the requests of TVs, for operators (docs/protocol.md §5.12). */
export function makeTvRequests({ store, clock, random }: ServiceDependencies) {
  const instance = Buffer.from(random(4)).toString('hex').slice(1);
  const recent = new RecentRequests(instance);
  let unplaced: UnplacedRequest[] = [];
  let refused: LoggedTvRequest[] = [];
  /** Number of entries of the next flush, by the id that limits them. */
  let pending = new Map<string, number>();
  let dropped = 0;
  let cancelTimer: (() => void) | undefined;
  let flushed: Promise<void> = Promise.resolve();

  function scheduleFlush(): void {
    cancelTimer ??= clock.after(flushMs, () => void flush());
  }

  /** Counts an entry of the next flush. Returns whether its id may have that many. */
  function isWithinShare(id: string): boolean {
    const count = (pending.get(id) ?? 0) + 1;
    if (count <= maxPerScreen) pending.set(id, count);
    return count <= maxPerScreen;
  }

  function add(place: RequestPlace, request: RecentRequest): void {
    recent.add(place, request);
    if (!store.refusedRequests || !isRefused(request)) return;
    if (refused.length >= maxRefused || !isWithinShare(`refused ${place.screenId}`)) {
      dropped++;
      return;
    }
    refused.push(recent.logged(place, request));
    scheduleFlush();
  }

  /**
   * Adds an answered request to the log. A request without a known device or code belongs to the
   * screen that it names. Its look-up waits for the next flush.
   */
  function record({ place, namedId }: RequestSubject, request: RecentRequest): void {
    if (place) {
      add(place, request);
      return;
    }
    const id = asGuid(namedId ?? '');
    if (id === undefined) return;
    if (unplaced.length >= maxLookUps || !isWithinShare(`unplaced ${id}`)) {
      dropped++;
      return;
    }
    unplaced.push({ namedId: id, request });
    scheduleFlush();
  }

  /** Returns the screen with this id, or the screen of the device with this id. */
  async function placeOf(id: string): Promise<RequestPlace | undefined> {
    const screen = await store.read.get('screens', id);
    if (screen) return { ...screen, id: null, screenId: screen.id };
    const device = await store.read.get('devices', id);
    return device && { ...device, id: null };
  }

  async function placeAll(requests: readonly UnplacedRequest[]): Promise<void> {
    const ids = [...new Set(requests.map(({ namedId }) => namedId))];
    const places = new Map(
      await Promise.all(ids.map(async (id) => [id, await placeOf(id)] as const)),
    );
    for (const { namedId, request } of requests) {
      const place = places.get(namedId);
      if (place) add(place, request);
    }
  }

  async function writeOut(): Promise<void> {
    const waiting = unplaced;
    unplaced = [];
    pending = new Map();
    await placeAll(waiting).catch(() => {
      dropped += waiting.length;
    });
    const batch = refused;
    refused = [];
    if (batch.length === 0) return;
    await store.refusedRequests?.append(batch).catch(() => {
      dropped += batch.length;
    });
  }

  /** Looks up screens and writes to the store. Ends after all earlier flushes. */
  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    flushed = flushed.then(writeOut);
    return flushed;
  }

  /**
   * Lists requests, newest first: those that this instance answered, and the refused ones of all
   * instances.
   */
  async function list(
    caller: TenantCaller,
    { cursor, limit, ...filters }: TvRequestQuery,
  ): Promise<Page<TvRequestView>> {
    await flush();
    const { tenantId } = caller;
    const scope = { tenantId, ...venueScopeFilter(caller) };
    const query = { ...filters, ...scope, ...afterId(cursor), limit: limit + 1 };
    const shared =
      filters.refused === false ? [] : ((await store.refusedRequests?.page(query)) ?? []);
    const found = newestOf([recent.newest(query), shared], limit + 1);
    const items = found.slice(0, limit).map(({ request }) => request);
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  return {
    record,
    list,
    /** Number of requests that were dropped from the log because there were too many. */
    droppedCount: () => dropped,
    /** Writes what is not yet written, and waits for it. */
    async stop(): Promise<void> {
      await flush();
      cancelTimer?.();
    },
  };
}
