import { systemClock } from '../../domain/clock.ts';
import { checkOptions } from '../../options/check-options.ts';
import { Player } from '../../player/assembly/player.ts';
import type { PlayerOptions } from '../../player/options.ts';
import { playerRules } from './player-rules.ts';
import { makeVirtualClock } from './virtual-clock.ts';

/**
 * A player whose default clock runs at `speed`. With `Infinity` that clock waits only for
 * responses. The constructor throws `invalid_option`.
 */
export class SimulatedPlayer extends Player {
  constructor(options: PlayerOptions) {
    checkOptions(playerRules, options);
    const { speed = 1 } = options;
    const clock = makeVirtualClock({ speed, startMs: systemClock.now(), wall: systemClock });
    super({ clock, ...options });
  }
}
