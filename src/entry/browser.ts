// `signage-kit/browser`: the TV's side of the API for apps in browsers. Needs no module of Node.
export type {
  ChangesCall,
  ConditionalCall,
  DatedChanges,
  DeviceClientOptions,
  EventsCall,
  Fetched,
  KeyedCall,
} from '../client/device-client.ts';
export { DeviceClient } from '../client/device-client.ts';
export type * from '../client/entities.ts';
export { makeFetchRequester } from '../client/fetch-requester.ts';
export { type ErrorCode, hasCode, SignageError } from '../domain/error.ts';
