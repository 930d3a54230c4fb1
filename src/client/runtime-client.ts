import { DeviceClient, type RuntimeOptions } from './device-client.ts';
import { withNodePlatform } from './node-platform.ts';
import { checkClientOptions } from './options.ts';

/**
 * Client of the device API. All methods with a parameter `id` accept the id of the screen or of the
 * device.
 *
 * Errors are `SignageError`s with the service's error codes, or `unreachable`, `unexpected_answer`
 * and `interrupted`.
 *
 * @example
 * const anyone = new RuntimeClient({ url: 'http://127.0.0.1:4100' });
 * const { screenId, apiKey } = await anyone.register({
 *   pairingCode: 'ABCD2345',
 *   deviceInfo: { model: 'TV' },
 * });
 * const { answer: playlist } = await anyone.withKey(apiKey).fetchPlaylist(screenId);
 */
export class RuntimeClient extends DeviceClient {
  constructor(options: RuntimeOptions) {
    checkClientOptions(options, ['apiKey']);
    super(withNodePlatform(options));
  }
}
