/// <reference types="node" preserve="true" />
// `signage-kit/client`: clients of a service, the records of its API, and errors.

export type { Method, RawRequest } from '../client/api-client.ts';
export type { CallAnswer, CallArguments, CallInput, ListId, ListItem } from '../client/call.ts';
export {
  type ChangesCall,
  type ConditionalCall,
  type DatedChanges,
  DeviceClient,
  type DeviceClientOptions,
  type EventsCall,
  type Fetched,
  type KeyedCall,
  type RuntimeCall,
  type RuntimeOptions,
} from '../client/device-client.ts';
export type * from '../client/entities.ts';
export { ManagementClient, type ManagementOptions } from '../client/management-client.ts';
export type { ApiClientOptions, ClientOptions } from '../client/options.ts';
export type { Reply } from '../client/problem.ts';
export type { HttpProxy } from '../client/proxy-tunnel.ts';
export type { MakeRequester, Requester, RequestParts, RequestReply } from '../client/requester.ts';
export type { Retry, RetryPolicy } from '../client/retry.ts';
export { RuntimeClient } from '../client/runtime-client.ts';
export type { Exchanged } from '../client/transport.ts';
export { type Clock, type Random, systemClock } from '../domain/clock.ts';
export {
  type CommandErrorCode,
  type ErrorCode,
  type ErrorExtras,
  type FieldError,
  hasCode,
  type ScreenPlace,
  type ServiceErrorCode,
  SignageError,
  type ToolkitErrorCode,
} from '../domain/error.ts';
export type { OperationId, Operations } from '../wire/operations/operations.ts';
export type { SchemaName, Schemas } from '../wire/schemas.ts';
