import type { RuntimeClient } from '../../client/runtime-client.ts';
import { secondMs } from '../../domain/clock.ts';
import type { PlayerBinding } from '../player/state.ts';
import type { SeededRandom } from '../time/seeded-random.ts';
import type { VirtualClock } from '../time/virtual-clock.ts';
import { isLifeFault, type LifeFault, type Rule } from './fault.ts';
import type { Outage } from './outage.ts';
import { cutPoints, type Power } from './power.ts';
import { startRandomSchedule } from './random-schedule.ts';
import { useRevokedKey } from './revoked-key-user.ts';
import type { SkewedClock } from './skewed-clock.ts';
import type { TvMemory } from './tv-memory.ts';

/** What of a TV faults lay hands on. */
export interface FaultyTv {
  clock: VirtualClock;
  shownClock: SkewedClock;
  power: Power;
  memory: TvMemory;
  outage: Outage;
  /** Chance for one purpose. */
  chanceFor(purpose: string): SeededRandom;
  /** Takes the key away; `undefined` where nobody may. */
  revoke: ((deviceId: string, reason: string) => Promise<void>) | undefined;
  /** A client with a key of one's own, past the TV's network. */
  clientWith(apiKey: string): RuntimeClient;
  onFault(rule: string): void;
  onFailure(error: unknown): void;
}

interface Occasion {
  tv: FaultyTv;
  rule: string;
  chance: SeededRandom;
  /** Takes note of something that has to be stopped in the end. */
  stopLater(stop: () => void): void;
}

const resetMs = 30 * secondMs;

function cutPower({ tv, chance }: Occasion, lastsMs: number): void {
  tv.power.cut(cutPoints[Math.floor(chance.between(0, cutPoints.length))] ?? 'now', lastsMs);
}

function resetToFactory({ tv }: Occasion): void {
  tv.power.cut('now', resetMs);
  tv.memory.wipe();
}

async function revoke(
  { tv, chance, stopLater }: Occasion,
  { deviceId, screenId, apiKey }: PlayerBinding,
): Promise<void> {
  try {
    await tv.clock.hold(async () => tv.revoke?.(deviceId, 'A fault of the simulation.'));
    stopLater(useRevokedKey({ client: tv.clientWith(apiKey), screenId, clock: tv.clock, chance }));
  } catch (error) {
    tv.onFailure(error);
  }
}

/** Lets a fault happen now; answers whether it could. */
function strike(fault: LifeFault, occasion: Occasion): boolean {
  const { tv, chance, rule } = occasion;
  const { binding } = tv.memory.state ?? {};
  switch (fault.kind) {
    case 'offline':
      tv.outage.begin(tv.clock.now() + fault.lastsMs, rule);
      // Counted by the requests that meet it.
      return false;
    case 'clock-jump':
      tv.shownClock.set(chance.between(-fault.byMs, fault.byMs));
      return true;
    case 'power-cut':
      cutPower(occasion, fault.lastsMs);
      return true;
    case 'factory-reset':
      resetToFactory(occasion);
      return true;
    case 'revoked-key':
      if (binding) void revoke(occasion, binding);
      return binding !== undefined;
  }
}

/** Sets the TV's clock wrong, and lets happen to it what the rules have for it, each at its pace. Returns how to stop. */
export function startLifeFaults(tv: FaultyTv, rules: readonly Rule[]): () => void {
  const stops: (() => void)[] = [];
  let isStopped = false;
  const stopLater = (stop: () => void) => void (isStopped ? stop() : stops.push(stop));
  for (const [place, fault] of rules.entries()) {
    const occasion = { tv, rule: fault.rule, chance: tv.chanceFor(`rule ${place}`), stopLater };
    if (fault.kind === 'clock-skew') {
      tv.shownClock.set(occasion.chance.between(-fault.byMs, fault.byMs));
      tv.onFault(fault.rule);
    }
    if (!isLifeFault(fault)) continue;
    const beat = () => {
      if (strike(fault, occasion)) tv.onFault(fault.rule);
    };
    stopLater(startRandomSchedule(tv.clock, occasion.chance, fault.pace, beat));
  }
  return () => {
    isStopped = true;
    for (const stop of stops.splice(0)) stop();
  };
}
