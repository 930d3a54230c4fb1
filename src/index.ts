// Public API of the package. It prints nothing, installs no signal handler, reads no environment
// variable and never ends the process. Several services, clients and fleets may run side by side.
export type { CallAnswer, CallInput, ListId, ListItem } from './client/call.ts';
export type { ClientOptions } from './client/caller.ts';
export { ManagementClient, type ManagementOptions } from './client/management-client.ts';
export type { RetryPolicy } from './client/retry.ts';
export { type Fetched, RuntimeClient, type RuntimeOptions } from './client/runtime-client.ts';
export { type Clock, type Random, systemClock } from './domain/clock.ts';
export { type FieldError, hasCode, SignageError } from './domain/error.ts';
export type { LogSink } from './domain/log.ts';
export type { OnDemandPlaylists, OnDemandScreen } from './origin/origin.ts';
export type { ServeOptions } from './serve/serve-options.ts';
export { type RequestInfo, type Running, serve } from './serve.ts';
export { runFleet } from './simulator/fleet/fleet.ts';
export type { FleetOptions } from './simulator/fleet/options.ts';
export type {
  EventCounts,
  Failures,
  FaultCount,
  FleetProgress,
  FleetReport,
  LeftBehind,
  TvPhase,
} from './simulator/fleet/report.ts';
export type { Batch } from './simulator/player/batch.ts';
export type {
  DropReason,
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  UnpairedReason,
} from './simulator/player/observer.ts';
export type { PlayerEnd, PlayerOptions, PlayerView, Showing } from './simulator/player/options.ts';
export { Player } from './simulator/player/player.ts';
export {
  type PlayerBinding,
  type PlayerMemory,
  type PlayerState,
  ramMemory,
} from './simulator/player/state.ts';
export type { EndpointTraffic, Latencies } from './simulator/tv/latency.ts';
export type { Finding } from './simulator/verify/ledger.ts';
export type { Reconciliation } from './simulator/verify/reconcile.ts';
export { openStore } from './store/open.ts';
export type { Store } from './store/store.ts';
