import { secondMs, systemClock, systemRandom } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { Rule } from '../faults/fault.ts';
import { parseFault } from '../faults/parse-fault.ts';
import { SeededRandom } from '../time/seeded-random.ts';
import { type DeviceInfoInput, simulatedDeviceInfo } from '../tv/device-info.ts';
import type { FleetOptions } from './options.ts';

const usualCount = 10;
/** A run that counts the wall's time gives its TVs a little more, so that they end by their own. */
const leeway = 1.02;
const leewayMs = 1000;

/** What is going to happen, with all that was left out. */
export interface FleetPlan extends Pick<FleetOptions, 'lifeMs' | 'rotateEveryMs'> {
  count: number;
  venue: string;
  speed: number;
  rampMs: number;
  /** When TVs without a given life end by their own time, counted from the beginning of the run. */
  tvEndMs: number | undefined;
  /** When they are asked to end at the latest, on the wall's clock. */
  endsAfterMs: number | undefined;
  startMs: number;
  seed: string;
  rules: readonly Rule[];
}

const refuse = (message: string) => new SignageError('invalid_option', message);

function check(
  { count, speed, rampMs, lifeMs = 1, startMs, rotateEveryMs = secondMs }: FleetPlan,
  { codes, token, keep }: FleetOptions,
): void {
  if (!Number.isInteger(count) || count < 1) throw refuse('A fleet has at least one TV.');
  if (!(speed > 0)) throw refuse('The speed must be above 0.');
  if (!(rampMs >= 0 && lifeMs > 0 && Number.isFinite(startMs)))
    throw refuse('The times of a fleet must be numbers of milliseconds.');
  if (!(rotateEveryMs >= secondMs)) throw refuse('A TV changes its key once a second at most.');
  if (token === undefined && codes === undefined && keep === undefined) {
    throw new SignageError(
      'credential_missing',
      'To make screens and codes takes a management token; without one, give codes.',
    );
  }
}

function checkRules(rules: readonly Rule[], { codes, token }: FleetOptions): void {
  for (const { kind, rule } of rules) {
    if (kind === 'revoked-key' && token === undefined)
      throw refuse(`The fault ${rule} takes a management token, to revoke with.`);
    if (kind === 'shared-code' && codes)
      throw refuse(`The fault ${rule} does not go with given codes: it makes its own.`);
  }
}

/** Works out what the options mean. Throws `invalid_option`, and `credential_missing` where screens cannot be made. */
export function planFleet(options: FleetOptions): FleetPlan {
  const {
    codes,
    speed = 1,
    rampMs = 0,
    durationMs,
    clock = systemClock,
    random = systemRandom,
  } = options;
  const isByDuration = options.lifeMs === undefined && Number.isFinite(speed);
  const plan: FleetPlan = {
    count: options.count ?? codes?.length ?? usualCount,
    venue: options.venue ?? 'Simulated',
    speed,
    rampMs,
    lifeMs: options.lifeMs,
    rotateEveryMs: options.rotateEveryMs,
    tvEndMs: isByDuration && durationMs !== undefined ? durationMs * speed : undefined,
    endsAfterMs:
      durationMs !== undefined && isByDuration ? durationMs * leeway + leewayMs : durationMs,
    startMs: options.startMs ?? clock.now(),
    seed: options.seed ?? String(Buffer.from(random(4)).readUInt32LE()),
    rules: (options.faults ?? []).map(parseFault),
  };
  check(plan, options);
  checkRules(plan.rules, options);
  return plan;
}

/** When the TV of this number is switched on, and how long it lives then: by its own time. TVs that may share a code come together. */
export function timesOf(
  { count, rampMs, speed, lifeMs, tvEndMs = Number.POSITIVE_INFINITY }: FleetPlan,
  number: number,
) {
  const delayMs = Number.isFinite(speed) ? (rampMs * speed * (number - (number % 2))) / count : 0;
  return { delayMs, lifeMs: lifeMs ?? Math.max(0, tvEndMs - delayMs) };
}

/** The TVs that first try the code of the one before them, by the rules for that. */
export function sharersOf(
  { rules, count, seed }: FleetPlan,
  onFault: (rule: string) => void,
): ReadonlySet<number> {
  const sharers = new Set<number>();
  for (const rule of rules) {
    if (rule.kind !== 'shared-code') continue;
    const chance = new SeededRandom(`${seed}/${rule.rule}`);
    for (let number = 1; number < count; number += 2) {
      if (!chance.happens(rule.share)) continue;
      sharers.add(number);
      onFault(rule.rule);
    }
  }
  return sharers;
}

/** What the TV of this number says of itself: it is of one of the given models, in turn. */
export function deviceInfoOf(
  { seed }: FleetPlan,
  { deviceInfos = [] }: FleetOptions,
  number: number,
): DeviceInfoInput {
  const chance = new SeededRandom(`${seed}/device ${number}`);
  return simulatedDeviceInfo(
    number + 1,
    (length) => chance.bytes(length),
    deviceInfos[number % deviceInfos.length],
  );
}
