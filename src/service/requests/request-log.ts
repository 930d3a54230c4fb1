import { secondMs } from '../../domain/clock.ts';
import { asGuid } from '../../domain/id.ts';
import type { LogSink } from '../../domain/log.ts';
import type { Page } from '../../domain/paging.ts';
import type { TvRequestQuery, TvRequestView } from '../../domain/records/tv-request.ts';
import type {
  RequestPlace,
  RequestSubject,
  ServiceDependencies,
  TenantPrincipal,
} from '../context.ts';
import { venueScopeFilter } from '../lookup.ts';

import { afterId } from '../paging.ts';
import { LimitedBatch } from './limited-batch.ts';
import {
  isRefused,
  limitKeyOf,
  newestOf,
  type RecentRequest,
  RecentRequests,
} from './recent-requests.ts';

/** Interval at which screens are looked up, and refused requests are written to the store. */
const flushMs = secondMs;
/**
 * Limits of one flush. They bound the work that rejected requests cause in the store. The limit of
 * a source leaves room for others. Further requests are dropped and counted.
 */
const flushLimits = { total: 50, perSource: 5 };

/** A request whose screen has not been looked up yet. */
interface UnplacedRequest {
  namedId: string;
  request: RecentRequest;
}

interface PlacedRequest {
  place: RequestPlace;
  request: RecentRequest;
}

/** The log of the requests of TVs, for operators (docs/protocol.md §5.12). */
export function makeTvRequests({ store, clock, random }: ServiceDependencies, log: LogSink) {
  const instance = Buffer.from(random(4)).toString('hex').slice(1);
  const recent = new RecentRequests(instance);
  const unplaced = new LimitedBatch<UnplacedRequest>(flushLimits);
  const refused = new LimitedBatch<PlacedRequest>(flushLimits);
  let dropped = 0;
  let cancelTimer: (() => void) | undefined;
  /** Whether the next write-out renews the limits. They are renewed once per interval. */
  let isRenewalDue = false;
  /** The queued write-out that has not begun yet, if any. */
  let queued: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  /** The steps of a flush that failed at their last attempt. */
  const failing = new Set<string>();

  function scheduleFlush(): void {
    cancelTimer ??= clock.after(flushMs, () => {
      cancelTimer = undefined;
      isRenewalDue = true;
      void writeOut();
    });
  }

  function add(place: RequestPlace, request: RecentRequest): void {
    recent.add(place, request);
    if (!store.refusedRequests || !isRefused(request)) return;
    if (refused.add(limitKeyOf(place), { place, request })) scheduleFlush();
    else dropped++;
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
    if (unplaced.add(id, { namedId: id, request })) scheduleFlush();
    else dropped++;
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

  async function share(requests: readonly PlacedRequest[]): Promise<void> {
    await store.refusedRequests?.append(
      requests.map(({ place, request }) => recent.logged(place, request)),
    );
  }

  /**
   * Runs a step of a flush. If it fails, its requests are dropped. In a series of failures, only
   * the first is logged.
   */
  async function attempt<T>(
    step: string,
    requests: readonly T[],
    run: (requests: readonly T[]) => Promise<void>,
  ): Promise<void> {
    if (requests.length === 0) return;
    try {
      await run(requests);
      failing.delete(step);
    } catch (error) {
      dropped += requests.length;
      if (!failing.has(step))
        log.warn(
          { err: error, step },
          'The log of requests is incomplete, because the store failed.',
        );
      failing.add(step);
    }
  }

  async function writeBatches(): Promise<void> {
    const renewsLimits = isRenewalDue;
    isRenewalDue = false;
    await attempt('look-up', unplaced.take(renewsLimits), placeAll);
    await attempt('write', refused.take(renewsLimits), share);
  }

  /** Looks up screens and writes to the store, after all earlier write-outs. */
  function writeOut(): Promise<void> {
    queued ??= running.then(() => {
      queued = undefined;
      return writeBatches();
    });
    running = queued;
    return queued;
  }

  /**
   * Lists requests, newest first: requests that this instance answered, and refused requests of all
   * instances.
   */
  async function list(
    principal: TenantPrincipal,
    { cursor, limit, ...filters }: TvRequestQuery,
  ): Promise<Page<TvRequestView>> {
    await writeOut();
    const { tenantId } = principal;
    const scope = { tenantId, ...venueScopeFilter(principal) };
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
    /** Number of requests that the log dropped, because there were too many or the store failed. */
    droppedCount: () => dropped,
    /** Writes all pending requests, and waits for the writes. */
    async stop(): Promise<void> {
      cancelTimer?.();
      await writeOut();
      cancelTimer?.();
    },
  };
}
