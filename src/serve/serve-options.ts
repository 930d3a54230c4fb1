import type { Clock, Random } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import type { Tls } from '../http/listener/listener.ts';
import type { AwsSettings } from '../origin/object-store/open-object-store.ts';
import type { OnDemandPlaylists } from '../origin/origin.ts';
import type { DatabaseOptions } from '../store/open.ts';

export interface ServeOptions {
  /** `127.0.0.1` unless said. */
  host?: string;
  /** 4100 unless said; 0 takes any that is free. */
  port?: number;
  /** `memory:`, a folder, or `postgres://user:password@host:5432/database`; `./signage-data` unless said. */
  store?: string;
  /** Uses a data folder that others on the machine can change, which is refused by default. */
  allowOpenData?: boolean;
  /** How the database is used, where that is the store. */
  database?: DatabaseOptions;
  /** How long a pairing code lives: 1 to 60, 15 unless said. */
  codeTtlMinutes?: number;
  /** For how long events and the audit trail are kept; reports go on counting them. 90 unless said. */
  retentionDays?: number;
  /**
   * For how long a device key that this instance has verified is good for playlist and config while the database cannot be asked: 0 to 86,400, 0 (not at
   * all) unless said. As long, a device that is revoked elsewhere meanwhile may still be served here (docs/deployment.md).
   */
  authGraceSeconds?: number;
  /**
   * Proxies whose `X-Forwarded-For` is believed: addresses, and ranges such as `10.0.0.0/8` or
   * `2001:db8::/32`. Name no address that a TV may have: its requests would count for the proxy, or
   * for any address that it claims (docs/protocol.md §3.5).
   */
  trustProxy?: readonly string[];
  /** Origins of web TV apps that may call from a browser. */
  corsOrigins?: readonly string[];
  /** PEM texts. */
  tls?: Tls;
  /** Opens `/metrics` to others than this machine. */
  metricsToken?: string;
  /** The bootstrap token: `mak_` and at least 24 characters of A-Z, a-z and 0-9. */
  adminToken?: string;
  /** Whether a first start without that makes one; it does unless said. Else it is refused: where nobody would see the new one. */
  makesToken?: boolean;
  /** Receives the token that a first start made, before the service listens. The start fails when this rejects, and the token is deleted. */
  keepToken?: (token: string) => void | Promise<void>;
  /** Fills an empty store with a venue, screens and playlists, and serves their media. */
  demo?: boolean;
  /** Says what screens are to play now, before what was published: as a function … */
  onDemand?: OnDemandPlaylists;
  /** … or as a URL such as `https://ads.example/playlists/{screenId}` (docs/on-demand.md). */
  onDemandUrl?: string;
  /** Sent to that URL as a bearer token. */
  onDemandToken?: string;
  /** For how long an answer is held, "none" too: 0 to 3,600, 10 unless said. */
  onDemandTtlSeconds?: number;
  /** How long a TV is kept waiting for the source: 100 to 10,000, 2,000 unless said. */
  onDemandTimeoutMs?: number;
  /** The most calls of the source at a time: 1 to 1,000, 20 unless said. */
  onDemandConcurrency?: number;
  /**
   * Keeps a copy of every playlist outside the store: `file:///folder`, `s3://bucket/prefix?endpoint=…&region=…`, or `none`. The folder `mirror` beside
   * the data unless said, where those are in a folder (docs/object-store.md).
   */
  objectStore?: string;
  /** What it takes to use `s3:`; the region may also stand in its URL. */
  aws?: AwsSettings;
  /** Makes the service misbehave on purpose, for the tests of TV apps: rules such as `POST /devices/register=503:10%` (docs/simulator.md). */
  faults?: readonly string[];
  clock?: Clock;
  random?: Random;
  /** Silent unless given. */
  log?: LogSink;
}
