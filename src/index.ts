// The toolkit: everything that programs may build on. It prints nothing, installs no signal handler, reads no environment and never ends the
// process; several services, clients and fleets live side by side.
export type { CallAnswer, CallInput, ListId, ListItem } from './client/call.ts';
export type { ClientOptions } from './client/caller.ts';
export { ManagementClient, type ManagementOptions } from './client/management-client.ts';
export type { RetryPolicy } from './client/retry.ts';
export { type Fetched, RuntimeClient, type RuntimeOptions } from './client/runtime-client.ts';
export { type Clock, type Random, systemClock } from './domain/clock.ts';
export { type FieldError, hasCode, SignageError } from './domain/error.ts';
export type { LogSink } from './domain/log.ts';
export { type Running, type ServeOptions, serve } from './serve.ts';
export type { Batch } from './simulator/batch.ts';
export { type FleetOptions, runFleet } from './simulator/fleet.ts';
export { Player, type PlayerOptions } from './simulator/player.ts';
export type { Failures, Tally } from './simulator/tally.ts';
export { openStore } from './store/open.ts';
export type { Store } from './store/store.ts';
