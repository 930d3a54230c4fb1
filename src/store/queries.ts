import type { BatchSums } from '../domain/events/batch-counts.ts';
import type { EventQuery } from '../domain/events/event.ts';
import type { PlayKey } from '../domain/events/plays.ts';
import type { AuditQuery } from '../domain/records/audit.ts';
import type { ReportClock, ReportGroup, SimulatedChoice } from '../domain/records/report.ts';
import type { Playlist } from '../domain/records/rows.ts';
import type { TvRequestQuery, TvRequestView } from '../domain/records/tv-request.ts';
import type { Selector } from '../domain/selector.ts';
import type { ListedTable, Rows } from './sections.ts';

export interface ListQuery<T extends ListedTable> {
  /** Members that must equal the value, or one of the values. */
  where?: { [K in keyof Rows[T]]?: Rows[T][K] | readonly Rows[T][K][] };
  /** Labels that must all match. */
  labels?: Record<string, string>;
  /** Labels of screens, or of the screens of devices, and of their venues. */
  selector?: Selector;
  /** The whole name, without regard to case. */
  name?: string;
  /** A part of the name, without regard to case. */
  search?: string;
  /**
   * Selects devices that are online at `now` (`is` true), or devices that are not. A device is
   * online if it is not suspended and was seen within the window given by its config
   * (docs/protocol.md §2.7).
   */
  online?: { is: boolean; now: number };
  limit: number;
  /** Whether the rows may take more than `maxPageBytes`, because no answer has them. */
  isUnsized?: boolean;
  /** Last id of the previous page. */
  after?: string;
  /** Stops a long scan when it aborts. The list then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** A playlist without its items. */
export type PlaylistSummary = Pick<
  Playlist,
  | 'playlistId'
  | 'version'
  | 'state'
  | 'publishedAt'
  | 'validUntil'
  | 'hasMedia'
  | 'contentId'
  | 'origin'
>;

export interface PastPlaylistQuery {
  screenId: string;
  /** Only versions below this one. Pass the last version of the previous page. */
  below: number;
  limit: number;
}

/** A page of rows. `next` is the `after` of the next page, or `null` when this is the last. */
export interface Slice<T> {
  items: T[];
  next: string | null;
}

export interface EventBatch {
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
  /** Whether the device is simulated. Its impressions are then counted separately. */
  simulated?: boolean | undefined;
  /** The `X-Device-Time` header, if present: the TV's clock, in Unix epoch milliseconds. */
  deviceTime?: number | undefined;
  /** The batch as a JSON array in UTF-8, without line breaks. It is stored unchanged. */
  body: Uint8Array;
  /** Totals of the batch, from the validated events. */
  sums: BatchSums;
  /** The `Idempotency-Key` header, if present, and the request body it was sent with. */
  idempotency?: { key: string; sent: Uint8Array };
}

/**
 * Restricts a query to these venues. `undefined`: all venues of the tenant. An empty array matches
 * nothing.
 */
export interface WithinVenues {
  venueIds?: readonly string[] | undefined;
}

/** The venues must be the tenant's: the counters of 0.1.0 do not say whose venue they count. */
export interface ImpressionQuery extends WithinVenues {
  tenantId: string;
  groupBy: ReportGroup;
  by: ReportClock;
  simulated?: SimulatedChoice | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** A screen on one UTC day and one local day. The counts of its plays are stored together. */
export interface PlayPlace {
  clock: ReportClock;
  tenantId: string;
  venueId: string;
  screenId: string;
  simulated: boolean;
  /** The UTC day, counted from 1 January 1970. */
  day: number;
  /** The local day minus the UTC day: -1, 0 or 1. */
  shift: number;
}

/** Receives the counts of a report, place by place. */
export interface PlayVisitor {
  /**
   * Returns whether the cells of the place count. They follow. The place is valid until the next
   * one.
   */
  place(place: PlayPlace): boolean;
  /** Gets the same object for the same key of a place, and often for that of other places. */
  readonly cell: (
    key: PlayKey,
    events: number,
    seconds: number,
    partial: number,
    unknown: number,
  ) => void;
}

/** Days are UTC days, counted from 1 January 1970. `to` is exclusive. */
export interface PlayQuery {
  tenantId: string;
  by: ReportClock;
  from?: number | undefined;
  to?: number | undefined;
}

/**
 * With `venueIds`, an entry matches if it is about at least one venue, and all its venues are in
 * `venueIds`.
 */
export interface AuditPageQuery extends Omit<AuditQuery, 'cursor'>, WithinVenues {
  tenantIds: readonly (string | null)[];
  after?: string;
}

export interface EventPageQuery
  extends WithinVenues,
    Pick<EventQuery, 'type' | 'deviceId' | 'screenId' | 'from' | 'to' | 'order' | 'limit'> {
  tenantId: string;
  /** Id of the last event of the previous page. */
  after?: string;
}

export interface StoredEvent {
  id: string;
  deviceId: string;
  screenId: string;
  /** In epoch milliseconds. */
  receivedAt: number;
  /**
   * `receivedAt` minus the TV's clock when it sent the batch. `null` if the TV did not send its
   * time.
   */
  offsetMs?: number | null | undefined;
  /** The venue of the screen at the receipt. */
  venueId: string;
  /** Whether the device was simulated. */
  simulated?: boolean | undefined;
  /**
   * How far the clock of the venue was ahead of UTC at the event, in seconds. `undefined`: 0.1.0
   * received it.
   */
  utcOffset?: number | undefined;
  /** The event, unchanged. */
  event: Record<string, unknown>;
}

/** A request of a TV, with the tenant and venue of its screen. */
export interface LoggedTvRequest {
  tenantId: string;
  venueId: string;
  request: TvRequestView;
}

export interface TvRequestPageQuery
  extends WithinVenues,
    Pick<TvRequestQuery, 'screenId' | 'deviceId' | 'refused' | 'from' | 'to' | 'limit'> {
  tenantId: string;
  /** Id of the last request of the previous page. */
  after?: string;
}
