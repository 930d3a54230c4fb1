import type { RuntimeClient } from '../../client/runtime-client.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import type { SeededRandom } from '../time/seeded-random.ts';
import type { VirtualClock } from '../time/virtual-clock.ts';

export interface RevokedKeyUserOptions {
  /** A client with the revoked key. */
  client: RuntimeClient;
  screenId: string;
  clock: VirtualClock;
  random: SeededRandom;
}

const uses = 9;

/**
 * Simulates a client that keeps using a revoked key, nine times at random intervals.
 * `RecordingTransport` checks the answers, so they are ignored here. Returns a function that stops
 * it.
 */
export function useRevokedKey({
  client,
  screenId,
  clock,
  random,
}: RevokedKeyUserOptions): () => void {
  let left = uses;
  let cancel = () => {};
  const postEvent = () => {
    const event = {
      type: 'log',
      timestamp: Math.floor(clock.now() / secondMs),
      message: 'Sent with a revoked key.',
    };
    return client.postEvents(screenId, [event], {
      idempotencyKey: Buffer.from(random.bytes(16)).toString('hex'),
    });
  };
  const calls = [
    postEvent,
    () => client.fetchPlaylist(screenId),
    () => client.fetchConfig(screenId),
  ];
  const wait = () => {
    cancel = clock.after(random.between(minuteMs / 2, 10 * minuteMs), () => {
      // The expected answer is a 401. The recording transport has checked it already.
      clock.hold(async () => calls[left % calls.length]?.()).catch(() => {});
      if (--left > 0) wait();
    });
  };
  wait();
  return () => cancel();
}
