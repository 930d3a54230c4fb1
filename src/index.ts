/// <reference types="node" preserve="true" />
// Public API of the package: `serve`, and the interfaces of its parts. It prints nothing, installs
// no signal handler, reads no environment variable and never ends the process. Several services may
// run side by side. The other entry points are in `entry/`.

export { type Clock, type Random, systemClock } from './domain/clock.ts';
export {
  type ErrorCode,
  type FieldError,
  hasCode,
  type ScreenPlace,
  SignageError,
} from './domain/error.ts';
export type { BatchSums, DaySums, ImpressionCount } from './domain/events/batch-counts.ts';
export type { CountedEvent, EventQuery, TelemetryEvent } from './domain/events/event.ts';
export type {
  DayPlays,
  PlayCell,
  PlayCount,
  PlayKey,
} from './domain/events/plays.ts';
export type { DeviceSequence, NumberRange } from './domain/events/sequence.ts';
export type { LogMethod, LogSink } from './domain/log.ts';
export type { ByteRange } from './domain/media/media.ts';
export type { MediaType } from './domain/media/media-types.ts';
export type {
  ContentMedia,
  Media as MediaRow,
  MediaUsage,
  MediaUse,
  ScreenContents,
  UnusedMedia,
} from './domain/media/rows.ts';
export type { NoticeView } from './domain/notices/notice.ts';
export type { Publication } from './domain/playlists/playlist.ts';
export type {
  Activities,
  DeviceActivity,
  LastActivity,
  TokenActivity,
} from './domain/records/activity.ts';
export type {
  Actor,
  AuditDetails,
  AuditEntry as AuditRow,
  AuditQuery,
} from './domain/records/audit.ts';
export type { ConfigBody } from './domain/records/config.ts';
export type { DeviceInfo } from './domain/records/device.ts';
export type { GuessCounter } from './domain/records/pairing-code.ts';
export type {
  ImpressionRow,
  ReportClock,
  ReportGroup,
  ReportQuery,
  ReportRow,
  SimulatedChoice,
} from './domain/records/report.ts';
export type { Role } from './domain/records/role.ts';
export type {
  Claim as ClaimRow,
  ConfigLevel,
  Creation as CreationRow,
  Device as DeviceRow,
  DeviceKey as DeviceKeyRow,
  Login as LoginRow,
  PairingCode as PairingCodeRow,
  Playlist as PlaylistRow,
  Screen as ScreenRow,
  StoredConfig as ConfigRow,
  Tenant as TenantRow,
  Token as TokenRow,
  Venue as VenueRow,
} from './domain/records/rows.ts';
export type { TvRequestQuery, TvRequestView } from './domain/records/tv-request.ts';
export type { Selector } from './domain/selector.ts';
export type { Tls } from './http/listener/tls.ts';
export type { MediaStore, StoredFile } from './media/media-store.ts';
export type {
  KeyPage,
  ObjectStore,
  StoredObject,
} from './origin/object-store/object-store.ts';
export type { AwsSettings } from './origin/object-store/open-object-store.ts';
export type { S3Credentials } from './origin/object-store/s3-client.ts';
export type { OnDemandPlaylists, OnDemandScreen } from './origin/origin.ts';
export type { RequestInfo, ServeOptions } from './serve/serve-options.ts';
export { type CloseOptions, type Running, type ServiceNotice, serve } from './serve.ts';
export type { FileSystem, OpenFile } from './store/json/disk/file-system.ts';
export { type DatabaseOptions, type OpenStoreOptions, openStore } from './store/location/open.ts';
export type {
  AuditPageQuery,
  EventBatch,
  EventPageQuery,
  ImpressionQuery,
  ListQuery,
  LoggedTvRequest,
  PastPlaylistQuery,
  PlaylistSummary,
  PlayPlace,
  PlayQuery,
  PlayVisitor,
  Slice,
  StoredEvent as StoredEventRow,
  TvRequestPageQuery,
  WithinVenues,
} from './store/queries.ts';
export type { RowSchema, Section } from './store/section.ts';
export {
  type IndexOf,
  type ListedTable,
  type MultipleOf,
  type Rows,
  sections,
  type TableName,
  type UniqueOf,
} from './store/sections.ts';
export type {
  GuessCounterChange,
  GuessCountersOfEach,
  KeyHolder,
  MediaReader,
  Reader,
  RefusedRequests,
  Store,
  Tx,
} from './store/store.ts';
