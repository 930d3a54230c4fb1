import type { Clock, Random } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import type { Tls } from '../http/listener/tls.ts';
import type { MediaStore } from '../media/media-store.ts';
import type { ObjectStore } from '../origin/object-store/object-store.ts';
import type { AwsSettings } from '../origin/object-store/open-object-store.ts';
import type { OnDemandPlaylists } from '../origin/origin.ts';
import type { DatabaseOptions } from '../store/location/open.ts';
import type { Store } from '../store/store.ts';

/** Connection information of a request, for a service mounted in another server. */
export interface RequestInfo {
  /**
   * Address of the client or proxy: `incoming.socket.remoteAddress` in Node. If it is the address
   * of a trusted proxy, `X-Forwarded-For` is read. Node returns `undefined` after the connection
   * was reset, and such a request is rejected.
   */
  remoteAddress: string | undefined;
}

/** Options of `serve`. Invalid values make it reject with `invalid_option`. */
export interface ServeOptions {
  /**
   * Whether to listen on a port. Set it to false to answer requests of your own server by `fetch`
   * or `nodeHandler`. `host`, `port` and `tls` are then invalid. Default: true.
   */
  listen?: boolean;
  /**
   * Base URL under which clients reach the service, such as `https://example.com/signage`. The
   * service removes the path of this URL from requests that have it, and adds it to each
   * `Location`. The OpenAPI document names the URL. Default: none; the service is at the root of
   * its host.
   */
  publicUrl?: string;
  /** Host name or IP address to listen on. Default: `127.0.0.1`. */
  host?: string;
  /** TCP port. 0 chooses a free one. Default: 4100. */
  port?: number;
  /**
   * Location of the store: `memory:`, a folder, or `postgres://user:password@host:5432/database`.
   * Or a store of your own, which `close` leaves open. Default: `./signage-data`.
   */
  store?: string | Store;
  /**
   * Allows a data folder that other users of the machine can change. Otherwise such a folder makes
   * `serve` reject with `open_to_others`. Default: false.
   */
  allowOpenData?: boolean;
  /**
   * Where uploaded files lie: a folder that all instances share, `s3://bucket/prefix`, or `none`.
   * Or a media store of your own, which `close` leaves open. Default: the folder `media` inside the
   * data folder, a temporary folder for a store in memory, and `none` for other stores.
   */
  media?: string | MediaStore;
  /** The largest uploaded file in MiB: 1 to 65,536, in a bucket to 5,120. Default: 512. */
  mediaLimitMiB?: number;
  /** What the uploaded files of one tenant may take, in MiB: 1 to 16,777,216. Default: 10,240. */
  mediaQuotaMiB?: number;
  /**
   * What the different playlists and schedules of one tenant may take, in MiB: 1 to 1,048,576.
   * Those under 64 KiB do not count. Default: 256.
   */
  playlistQuotaMiB?: number;
  /** Settings for a PostgreSQL store. Other stores ignore them. */
  database?: DatabaseOptions;
  /** Lifetime of a pairing code in minutes, 1 to 60. Default: 15. */
  codeTtlMinutes?: number;
  /**
   * Days for which events and the audit trail are kept, 1 to 36,500. Reports keep counting deleted
   * events. Default: 90.
   */
  retentionDays?: number;
  /**
   * Grace period of device keys in seconds, 0 to 86,400. While the database is unreachable, a key
   * keeps its access to playlist and config for this time after this instance last verified it. A
   * device that another instance revokes meanwhile may be served for that long (docs/cluster.md).
   * Default: 0, not at all.
   */
  authGraceSeconds?: number;
  /**
   * Maximum number of connections at a time, 1 to 200,000. The listener closes further connections.
   * The limit of open files of the process must be higher. On Linux, the log warns if it is lower.
   * Default: 20,000.
   */
  maxConnections?: number;
  /**
   * Seconds for which an idle connection stays open, 1 to 3,600. A load balancer in front must
   * close its idle connections earlier, or a request may be lost (docs/cluster.md). Default: 75.
   */
  keepAliveSeconds?: number;
  /**
   * Addresses and ranges of trusted proxies, such as `10.0.0.0/8` or `2001:db8::/32`. Their
   * `X-Forwarded-For` is read. Never include an address that a TV may have. The service would
   * attribute the requests of this TV to any address that the TV claims (docs/protocol.md §3.5).
   * Default: none.
   */
  trustProxy?: readonly string[];
  /**
   * Addresses and ranges of your own network that webhooks may call, also by plain HTTP, such as
   * `10.0.0.0/8`. Default: none; webhooks call public addresses only, by HTTPS.
   */
  webhookAllow?: readonly string[];
  /**
   * Origins of web TV apps that may call the service from a browser, such as
   * `https://tv.example.com`; `*` allows all. Default: none.
   */
  corsOrigins?: readonly string[];
  /**
   * Whether lists, reports, the OpenAPI document and static files are compressed for clients that
   * accept it. Turn it off behind a proxy that compresses. Default: true.
   */
  compression?: boolean;
  /**
   * Whether the web player is served under `/player`, for TVs with a browser. Default: true.
   */
  player?: boolean;
  /** Certificate and private key, as PEM texts. Default: plain HTTP. */
  tls?: Tls;
  /**
   * Bearer token that allows other machines to read `/metrics`. Default: only loopback may read it.
   */
  metricsToken?: string;
  /**
   * The bootstrap platform token: `mak_` and at least 24 characters of A-Z, a-z and 0-9. Default:
   * the first start creates a token.
   */
  adminToken?: string;
  /**
   * Whether a first start without `adminToken` creates a token. Set it to false if nobody would see
   * the new token: such a start then fails with `invalid_option`. Default: true.
   */
  makesToken?: boolean;
  /**
   * Creates another platform token, for an operator who has lost all of them. The other tokens keep
   * working. Invalid with `adminToken`. Default: false.
   */
  newAdminToken?: boolean;
  /**
   * Receives the token that this start created, before the service listens. If it rejects, the
   * token is deleted and the start fails.
   */
  keepToken?: (token: string) => void | Promise<void>;
  /**
   * Fills a store without venues with demo venues, screens, media and playlists.
   * Default: false.
   */
  demo?: boolean;
  /**
   * Function that returns the current playlist of a screen, or the URL of a service that returns
   * it, such as `https://ads.example/playlists/{screenId}` (docs/on-demand.md). This playlist takes
   * precedence over the published playlist. Default: none.
   */
  onDemand?: string | OnDemandPlaylists;
  /** Bearer token for the URL in `onDemand`. Default: requests have no `Authorization` header. */
  onDemandToken?: string;
  /**
   * Seconds for which an on-demand response is cached, including the response that there is no
   * playlist: 0 to 3,600. Default: 10.
   */
  onDemandTtlSeconds?: number;
  /** Time-out of an on-demand call in milliseconds: 100 to 10,000. Default: 2,000. */
  onDemandTimeoutMs?: number;
  /** Maximum number of concurrent on-demand calls: 1 to 1,000. Default: 20. */
  onDemandConcurrency?: number;
  /**
   * Location of a copy of every playlist and config outside the store: `file:///folder`,
   * `s3://bucket/prefix?endpoint=…&region=…`, or `none` (docs/object-store.md). Or an object store
   * of your own, which `close` leaves open. Default: the folder `mirror` inside the data folder, or
   * none if the store is not a folder.
   */
  objectStore?: string | ObjectStore;
  /**
   * Credentials and region for an object store or media at `s3:`, which require credentials. The
   * region may also be part of the URL.
   */
  aws?: AwsSettings;
  /**
   * Fault-injection rules for testing TV apps, such as `503:register:10%` (docs/faults.md). With a
   * list, which may be empty, `setFaults` replaces them while the service runs.
   * Default: none.
   */
  faults?: readonly string[];
  /**
   * File with the key that signs statements of plays, which `signage statement key new` makes. It
   * is read at each use. Default: none; no statement is sealed.
   */
  statementKeyFile?: string;
  /** Source of time. Default: `systemClock`. */
  clock?: Clock;
  /** Source of random bytes. Must be cryptographically secure. Default: `node:crypto`. */
  random?: Random;
  /**
   * Called once when the service can accept no more changes until it is started again, with the
   * reason: its data folder was moved away, deleted or replaced. Close the service then.
   */
  onFailure?: (reason: Error) => void;
  /** Receives log entries, such as a pino logger. Default: no log. */
  log?: LogSink;
}
