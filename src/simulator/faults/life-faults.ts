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

/** The parts of a TV that faults act on. */
export interface FaultyTv {
  clock: VirtualClock;
  skewedClock: SkewedClock;
  power: Power;
  memory: TvMemory;
  outage: Outage;
  /** Returns the random sequence for one purpose. */
  randomFor(purpose: string): SeededRandom;
  /** Revokes the device; `undefined` without a management token. */
  revoke: ((deviceId: string, reason: string) => Promise<void>) | undefined;
  /** Returns a client with the given key that bypasses the TV's faulty network. */
  clientWith(apiKey: string): RuntimeClient;
  onFault(rule: string): void;
  onFailure(error: unknown): void;
}

interface FaultContext {
  tv: FaultyTv;
  rule: string;
  random: SeededRandom;
  /** Registers a function to call when the faults are stopped. */
  stopLater(stop: () => void): void;
}

const resetMs = 30 * secondMs;

function cutPower({ tv, random }: FaultContext, lastsMs: number): void {
  tv.power.cut(cutPoints[Math.floor(random.between(0, cutPoints.length))] ?? 'now', lastsMs);
}

function resetToFactory({ tv }: FaultContext): void {
  tv.power.cut('now', resetMs);
  tv.memory.wipe();
}

async function revoke(
  { tv, random, stopLater }: FaultContext,
  { deviceId, screenId, apiKey }: PlayerBinding,
): Promise<void> {
  try {
    await tv.clock.hold(async () => tv.revoke?.(deviceId, 'A fault of the simulation.'));
    stopLater(useRevokedKey({ client: tv.clientWith(apiKey), screenId, clock: tv.clock, random }));
  } catch (error) {
    tv.onFailure(error);
  }
}

/** Injects a fault now. Returns whether it is to be counted here. */
function injectFault(fault: LifeFault, context: FaultContext): boolean {
  const { tv, random, rule } = context;
  const { binding } = tv.memory.state ?? {};
  switch (fault.kind) {
    case 'offline':
      tv.outage.begin(tv.clock.now() + fault.lastsMs, rule);
      // Counted by each request that fails.
      return false;
    case 'clock-jump':
      tv.skewedClock.shift(random.between(-fault.byMs, fault.byMs));
      return true;
    case 'power-cut':
      cutPower(context, fault.lastsMs);
      return true;
    case 'factory-reset':
      resetToFactory(context);
      return true;
    case 'revoked-key':
      if (binding) void revoke(context, binding);
      return binding !== undefined;
  }
}

/**
 * Skews the TV's clock, and injects the recurring faults of the rules at their pace. Returns a
 * function that stops them.
 */
export function startLifeFaults(tv: FaultyTv, rules: readonly Rule[]): () => void {
  const stops: (() => void)[] = [];
  let isStopped = false;
  const stopLater = (stop: () => void) => void (isStopped ? stop() : stops.push(stop));
  for (const [index, fault] of rules.entries()) {
    const context = { tv, rule: fault.rule, random: tv.randomFor(`rule ${index}`), stopLater };
    if (fault.kind === 'clock-skew') {
      tv.skewedClock.shift(context.random.between(-fault.byMs, fault.byMs));
      tv.onFault(fault.rule);
    }
    if (!isLifeFault(fault)) continue;
    const onTick = () => {
      if (injectFault(fault, context)) tv.onFault(fault.rule);
    };
    stopLater(startRandomSchedule(tv.clock, context.random, fault.pace, onTick));
  }
  return () => {
    isStopped = true;
    for (const stop of stops.splice(0)) stop();
  };
}
