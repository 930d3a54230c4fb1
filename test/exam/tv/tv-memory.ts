/** A config as the service sends it (docs/protocol.md §2.4). */
export interface TvConfig {
  syncIntervalMinutes: number;
  heartbeatIntervalMinutes: number;
}

interface TvItem {
  creativeId: string;
  campaignId?: string;
  duration: number;
}

/** A playlist as the service sends it (docs/protocol.md §2.3). */
export interface TvPlaylist {
  id: string;
  version: number;
  validUntil: number;
  items: TvItem[];
}

/** An event as the TV sends it (docs/protocol.md §2.5). */
export interface TvEvent {
  type: string;
  /** A number. Some defects send other values. */
  timestamp: unknown;
  [member: string]: unknown;
}

/** Events that were sent together at least once, or are about to be. */
export interface TvBatch {
  key: string | undefined;
  events: readonly TvEvent[];
  /** Set by a defect: the batch was accepted before. */
  wasAccepted?: boolean;
}

export interface TvRegistration {
  code: string;
  key: string | undefined;
}

/** Everything that the TV keeps across a power cut. */
export interface TvState {
  /** The code that a person typed and that was neither accepted nor refused. */
  typedCode?: string;
  /** The last registration, with its Idempotency-Key. */
  registration?: TvRegistration;
  binding?: { screenId: string; apiKey: string };
  formerKey?: string;
  rotationKey?: string | undefined;
  config: TvConfig;
  configEtag?: string | undefined;
  playlist?: TvPlaylist | undefined;
  playlistEtag?: string | undefined;
  /** `seq` of the next event. */
  nextSeq: number;
  queue: TvEvent[];
  batches: TvBatch[];
}

export const defaultConfig: TvConfig = { syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1 };

export const emptyState = (): TvState => ({
  config: defaultConfig,
  nextSeq: 1,
  queue: [],
  batches: [],
});
