/// <reference types="node" preserve="true" />
// `signage-kit/simulator`: simulated TVs, one or a fleet.

/** Base class of `Player`, with all its methods. */
export type { Player as BasePlayer } from '../player/assembly/player.ts';
export type { Batch } from '../player/batch.ts';
export type { QueueChange, QueuedEvent } from '../player/event-queue.ts';
export type {
  DropReason,
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  RuntimeOperation,
  TvIdentity,
  UnpairedReason,
} from '../player/observer.ts';
export type {
  PlayerClock,
  PlayerEnd,
  PlayerOptions,
  PlayerView,
  Showing,
} from '../player/options.ts';
export type { PlaybackFailure, Shown, Stage } from '../player/stage.ts';
export {
  type FormerKey,
  type PlayerBinding,
  type PlayerHead,
  type PlayerMemory,
  type PlayerState,
  type Registering,
  type Rotating,
  ramMemory,
  type SavedPlaylist,
  type StateChange,
} from '../player/state.ts';
export { runFleet } from '../simulator/fleet/fleet.ts';
export type { FleetOptions } from '../simulator/fleet/options.ts';
export type {
  EventCounts,
  FaultCount,
  FleetProgress,
  FleetReport,
  LeftBehind,
} from '../simulator/fleet/report.ts';
export type { Failures, TvPhase } from '../simulator/tv/counters.ts';
export type { EndpointTraffic, Latencies } from '../simulator/tv/latency.ts';
export { SimulatedPlayer as Player } from '../simulator/tv/simulated-player.ts';
export type { VirtualClock } from '../simulator/tv/virtual-clock.ts';
export type { DeviceBalance } from '../simulator/verify/device-ledger.ts';
export type { KeyBalance } from '../simulator/verify/key-check.ts';
export type { FleetFinding } from '../simulator/verify/ledger.ts';
export type { Reconciliation } from '../simulator/verify/reconcile.ts';
