import { iso } from '../../domain/clock.ts';
import type { LoggedTvRequest, TvRequestPageQuery } from '../../store/queries.ts';
import type { RequestPlace } from '../context.ts';

/** A request of a TV, as kept in memory. It has few members, because many are kept. */
export interface RecentRequest {
  /** Time of the answer, in epoch milliseconds. */
  at: number;
  operation: string;
  /** `null`: there was no answer, because a fault rule dropped the request. */
  status: number | null;
  code: string | null;
  detail: string | null;
  faults: readonly string[];
  requestId: string;
  /** Number of the request in this instance, set by `RecentRequests.add`. */
  sequence: number;
}

/**
 * Returns the id by which requests are limited: the id of the device, or the id of the screen for
 * unknown devices.
 */
export const limitKeyOf = ({ id, screenId }: RequestPlace): string => id ?? screenId;

interface RequestsOfDevice {
  place: RequestPlace;
  /** Ordered by time. */
  requests: RecentRequest[];
}

const defaultLimits = { perDevice: 200, bytes: 32 * 1024 * 1024 };

/** Measured size in bytes of a request without its texts, and of a device without its requests. */
const requestBytes = 256;
const deviceBytes = 512;
const bytesPerCharacter = 2;

function sizeOf({ detail, requestId, faults }: RecentRequest): number {
  let characters = requestId.length;
  if (detail !== null) characters += detail.length;
  for (const fault of faults) characters += fault.length;
  return requestBytes + bytesPerCharacter * characters;
}

/** Returns the newest `limit` requests of several lists, each once, newest first. */
export function newestOf(
  lists: readonly (readonly LoggedTvRequest[])[],
  limit: number,
): LoggedTvRequest[] {
  const byId = new Map(lists.flat().map((one) => [one.request.id, one]));
  const all = [...byId.values()];
  return all.sort((a, b) => (a.request.id < b.request.id ? 1 : -1)).slice(0, limit);
}

/**
 * The last requests of each device, in memory. All requests of unknown devices count as one further
 * device of their screen, so that they do not evict requests with a key. If all requests take too
 * much memory, the older half of one device after another is evicted. Devices with fewer requests
 * than the mean are skipped, so that busy devices do not evict the requests of others.
 */
export class RecentRequests {
  readonly #instance: string;
  readonly #limits: typeof defaultLimits;
  readonly #byDevice = new Map<string, RequestsOfDevice>();
  /**
   * Iterator over all devices, in order of eviction. An eviction removes the older half of one
   * device's requests.
   */
  #nextEvicted = this.#byDevice.entries();
  #count = 0;
  #bytes = 0;
  #sequence = 0;

  /** @param instance 7 hex digits that differ between the instances on one store */
  constructor(instance: string, limits = defaultLimits) {
    this.#instance = instance;
    this.#limits = limits;
  }

  /** Estimated size of all requests, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  add(place: RequestPlace, request: RecentRequest): void {
    const { requests } = this.#requestsOf(place);
    this.#sequence = (this.#sequence + 1) % 0x1_0000_0000;
    request.sequence = this.#sequence;
    let index = requests.length;
    while (index > 0 && (requests[index - 1] as RecentRequest).at > request.at) index--;
    if (index === requests.length) requests.push(request);
    else requests.splice(index, 0, request);
    this.#count++;
    this.#bytes += sizeOf(request);
    if (requests.length > this.#limits.perDevice) {
      this.#count--;
      this.#bytes -= sizeOf(requests.shift() as RecentRequest);
    }
    while (this.#bytes > this.#limits.bytes) this.#evictSome();
  }

  #requestsOf(place: RequestPlace): RequestsOfDevice {
    const key = limitKeyOf(place);
    const known = this.#byDevice.get(key);
    if (known) return known;
    const { id, tenantId, venueId, screenId } = place;
    const added = { place: { id, tenantId, venueId, screenId }, requests: [] };
    this.#byDevice.set(key, added);
    this.#bytes += deviceBytes;
    return added;
  }

  /** Evicts the older half of the next device's requests, unless it has fewer than the mean. */
  #evictSome(): void {
    const { value, done } = this.#nextEvicted.next();
    if (done) {
      this.#nextEvicted = this.#byDevice.entries();
      return;
    }
    const [key, { requests }] = value;
    if (requests.length < Math.floor(this.#count / this.#byDevice.size)) return;
    const evicted = requests.splice(0, Math.ceil(requests.length / 2));
    this.#count -= evicted.length;
    this.#bytes -= evicted.reduce((sum, request) => sum + sizeOf(request), 0);
    if (requests.length > 0) return;
    this.#byDevice.delete(key);
    this.#bytes -= deviceBytes;
  }

  /** Converts a request to the form of the API, with an id. */
  logged({ id, tenantId, venueId, screenId }: RequestPlace, one: RecentRequest): LoggedTvRequest {
    const { at, operation, status, code, detail, faults, requestId } = one;
    const request = {
      id: this.#idOf(one),
      at: iso(at),
      operation,
      status,
      code,
      detail,
      faults: [...faults],
      deviceId: id,
      screenId,
      requestId,
    };
    return { tenantId, venueId, request };
  }

  /**
   * Returns the id of a request: a version 7 UUID (RFC 9562 §5.7) with its time, this instance and
   * its number. It is made when a request is read, because most requests are never read.
   */
  #idOf({ at, sequence }: RecentRequest): string {
    const time = at.toString(16).padStart(12, '0');
    const number = sequence.toString(16).padStart(8, '0');
    const instance = `8${this.#instance.slice(0, 3)}`;
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-${instance}-${number}${this.#instance.slice(3)}`;
  }

  /** Returns the newest requests that match, newest first. */
  newest(query: TvRequestPageQuery): LoggedTvRequest[] {
    const { limit, from = Number.NEGATIVE_INFINITY } = query;
    const matches = this.#matcherOf(query);
    let found: LoggedTvRequest[] = [];
    /** No request before this time can be among the newest. */
    let earliest = from;
    for (const { place, requests } of this.#byDevice.values()) {
      if (!isPlaceOf(query, place)) continue;
      for (let index = requests.length - 1; index >= 0; index--) {
        const request = requests[index] as RecentRequest;
        if (request.at < earliest) break;
        if (matches(request)) found.push(this.logged(place, request));
      }
      if (found.length <= 2 * limit) continue;
      found = newestOf([found], limit);
      earliest = Date.parse(found.at(-1)?.request.at as string);
    }
    return newestOf([found], limit);
  }

  #matcherOf({ to, after, refused }: TvRequestPageQuery): (request: RecentRequest) => boolean {
    const afterMs = after === undefined ? Number.POSITIVE_INFINITY : timeOfId(after);
    /**
     * Makes an id only at the millisecond of the cursor, because a page may skip 100,000 requests.
     */
    const isBefore = (request: RecentRequest) =>
      request.at < afterMs ||
      (request.at === afterMs && after !== undefined && this.#idOf(request) < after);
    return (request) =>
      (to === undefined || request.at < to) &&
      (refused === undefined || refused === isRefused(request)) &&
      isBefore(request);
  }
}

/** Returns the time of a version 7 UUID, in epoch milliseconds: its first 12 hex digits. */
const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Returns whether a request was answered with an error, or not at all. */
export const isRefused = ({ status }: Pick<RecentRequest, 'status'>): boolean =>
  status === null || status >= 400;

function isPlaceOf(
  { tenantId, venueIds, screenId, deviceId }: TvRequestPageQuery,
  place: RequestPlace,
): boolean {
  return (
    place.tenantId === tenantId &&
    (venueIds === undefined || venueIds.includes(place.venueId)) &&
    (screenId === undefined || screenId === place.screenId) &&
    (deviceId === undefined || deviceId === place.id)
  );
}
