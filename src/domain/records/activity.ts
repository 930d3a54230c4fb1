import type { DeviceSequence } from '../events/sequence.ts';

/** Latest activity of a device. It is kept in memory, and written at most once a minute. */
export interface LastActivity {
  lastSeenAt?: number;
  lastAddress?: string | null;
  lastPlaylistAt?: number;
  lastPlaylistVersion?: number | null;
  lastPlaylistStatus?: number;
  lastConfigAt?: number;
  lastEventAt?: number;
  /** Time of the latest request with a revoked or replaced key. */
  lastRefusedAt?: number;
}

/** Latest activity of a device, and the statistics of its sequence numbers, if it has sent any. */
export interface DeviceActivity extends LastActivity, Partial<DeviceSequence> {}

/** Latest activity of a token. */
export interface TokenActivity {
  lastUsedAt?: number;
}

/** What is recorded of a kind of record, and what is known of it. */
export interface Activities {
  device: { recorded: LastActivity; known: DeviceActivity };
  token: { recorded: TokenActivity; known: TokenActivity };
}
