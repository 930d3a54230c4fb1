import { type Stage, timerStage } from '../../../src/player/stage.ts';
import type { LinkedTv } from './link.ts';

/** A stage on which nothing is visible without a network, so there are no proofs of play. */
export function unseenOffline(tv: LinkedTv): Stage {
  const stage = timerStage(tv.clock);
  return {
    clear: () => stage.clear(),
    async show(item, forMs, signal, onVisible) {
      const shown = await stage.show(item, forMs, signal, onVisible);
      return tv.isOnline ? shown : { playedMs: 0 };
    },
  };
}
