import type { RuntimeClient } from '../../client/runtime-client.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import type { SeededRandom } from '../time/seeded-random.ts';
import type { VirtualClock } from '../time/virtual-clock.ts';

export interface RevokedKeyUse {
  /** With the key that was revoked. */
  client: RuntimeClient;
  screenId: string;
  clock: VirtualClock;
  chance: SeededRandom;
}

const uses = 9;

/**
 * Somebody who does not let go of a revoked key: asks and reports with it some times more. What is answered is judged where all answers pass, by
 * the wire; here it changes nothing. Returns how to stop.
 */
export function useRevokedKey({ client, screenId, clock, chance }: RevokedKeyUse): () => void {
  let left = uses;
  let cancel = () => {};
  const report = () => {
    const event = {
      type: 'log',
      timestamp: Math.floor(clock.now() / secondMs),
      message: 'Sent with a revoked key.',
    };
    return client.postEvents(screenId, [event], {
      idempotencyKey: Buffer.from(chance.bytes(16)).toString('hex'),
    });
  };
  const calls = [report, () => client.fetchPlaylist(screenId), () => client.fetchConfig(screenId)];
  const wait = () => {
    cancel = clock.after(chance.between(minuteMs / 2, 10 * minuteMs), () => {
      // The answer is a 401, or the wire has seen what it was.
      clock.hold(async () => calls[left % calls.length]?.()).catch(() => {});
      if (--left > 0) wait();
    });
  };
  wait();
  return () => cancel();
}
