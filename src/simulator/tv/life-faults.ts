import { type Clock, minuteMs, randomHex, secondMs } from '../../domain/clock.ts';
import { isLifeFault, type LifeFault, type Pace } from '../../faults/parse-fault.ts';
import type { PlayerBinding } from '../../player/state.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { SimulatedDevice } from './device.ts';
import { cutPoints } from './hardware.ts';

/**
 * Yields the delays between occurrences: one random time in each interval, or a Poisson process.
 */
function* delays(pace: Pace, random: SeededRandom): Generator<number> {
  if ('times' in pace) for (;;) yield (-Math.log(1 - random.fraction()) * pace.inMs) / pace.times;
  const { everyMs } = pace;
  for (let restMs = 0; ; ) {
    const offsetMs = random.between(0, everyMs);
    yield restMs + offsetMs;
    restMs = everyMs - offsetMs;
  }
}

/** Calls `onTick` at the given pace. Returns a function that stops the calls. */
function startRandomSchedule(
  clock: Clock,
  random: SeededRandom,
  pace: Pace,
  onTick: () => void,
): () => void {
  const times = delays(pace, random);
  let cancel = () => {};
  const wait = () => {
    cancel = clock.after(times.next().value, () => {
      wait();
      onTick();
    });
  };
  wait();
  return () => cancel();
}

const uses = 9;

/**
 * Simulates a client that keeps using a revoked key, nine times at random intervals. Ignores the
 * responses, because `RecordingTransport` checks them. Returns a function that stops the client.
 */
function useRevokedKey(
  tv: SimulatedDevice,
  { screenId, apiKey }: PlayerBinding,
  random: SeededRandom,
): () => void {
  const { clock } = tv;
  const client = tv.directClient(apiKey);
  let left = uses;
  let cancel = () => {};
  const postEvent = () => {
    const event = {
      type: 'log',
      timestamp: Math.floor(clock.now() / secondMs),
      message: 'Sent with a revoked key.',
    };
    return client.postEvents(screenId, [event], {
      idempotencyKey: randomHex((length) => random.bytes(length), 16),
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

interface FaultContext {
  tv: SimulatedDevice;
  rule: string;
  random: SeededRandom;
  /** Registers a function to call when the faults are stopped. */
  stopLater(stop: () => void): void;
}

const resetMs = 30 * secondMs;

async function revoke(
  { tv, random, stopLater }: FaultContext,
  binding: PlayerBinding,
): Promise<void> {
  const { codeProvider, counters } = tv.shared;
  try {
    await tv.clock.hold(async () =>
      codeProvider.revoke?.(binding.deviceId, 'A fault of the simulation.'),
    );
    stopLater(useRevokedKey(tv, binding, random));
  } catch (error) {
    counters.fail(error);
  }
}

/** Injects a fault now. Returns whether the caller must count it. */
function injectFault(fault: LifeFault, context: FaultContext): boolean {
  const { tv, random, rule } = context;
  const { binding } = tv.memory.state ?? {};
  switch (fault.kind) {
    case 'offline':
      tv.outage.begin(tv.clock.now() + fault.lastsMs, rule);
      // The faulty link counts each request that fails.
      return false;
    case 'clock-jump':
      tv.skewedClock.shift(random.between(-fault.byMs, fault.byMs));
      return true;
    case 'power-cut':
      tv.power.cut(
        cutPoints[Math.floor(random.between(0, cutPoints.length))] ?? 'now',
        fault.lastsMs,
      );
      return true;
    case 'factory-reset':
      tv.power.cut('now', resetMs);
      tv.memory.wipe();
      return true;
    case 'revoked-key':
      if (binding) void revoke(context, binding);
      return binding !== undefined;
  }
}

/**
 * Skews the TV's clock if a rule demands it, and injects the recurring faults of the rules at their
 * pace. Returns a function that stops the faults.
 */
export function startLifeFaults(tv: SimulatedDevice): () => void {
  const { rules, counters } = tv.shared;
  const stops: (() => void)[] = [];
  let isStopped = false;
  const stopLater = (stop: () => void) => void (isStopped ? stop() : stops.push(stop));
  for (const [index, fault] of rules.entries()) {
    const context = { tv, rule: fault.rule, random: tv.randomFor(`rule ${index}`), stopLater };
    if (fault.kind === 'clock-skew') {
      tv.skewedClock.shift(context.random.between(-fault.byMs, fault.byMs));
      counters.fault(fault.rule);
    }
    if (!isLifeFault(fault)) continue;
    const onTick = () => {
      if (injectFault(fault, context)) counters.fault(fault.rule);
    };
    stopLater(startRandomSchedule(tv.clock, context.random, fault.pace, onTick));
  }
  return () => {
    isStopped = true;
    for (const stop of stops.splice(0)) stop();
  };
}
