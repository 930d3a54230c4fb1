import { setMaxListeners } from 'node:events';
import type { ApiClientOptions, ClientOptions } from './options.ts';
import type { MakeRequester } from './requester.ts';

/** Loads undici on the first request. */
const makeDefaultRequester: MakeRequester = async (certificates) =>
  (await import('./undici-requester.ts')).makeUndiciRequester(certificates);

/** Adds Node's defaults to the options of a client. */
export function withNodePlatform<O extends ClientOptions>(
  options: O,
): Omit<O, 'makeRequester'> & ApiClientOptions {
  return {
    ...options,
    makeRequester: options.makeRequester ?? makeDefaultRequester,
    // Many requests may share one signal. Node 20 warns of more than ten listeners.
    prepareSignal: (signal) => setMaxListeners(0, signal),
  };
}
