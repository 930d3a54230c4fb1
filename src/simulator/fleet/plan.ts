import type { DeviceInfoInput } from '../../client/entities.ts';
import { systemClock, systemRandom } from '../../domain/clock.ts';
import { invalidOption, SignageError } from '../../domain/error.ts';
import { type Fault, parseFault } from '../../faults/parse-fault.ts';
import { checkOptions } from '../../options/check-options.ts';
import { SeededRandom } from '../seeded-random.ts';
import { simulatedDeviceInfo } from '../tv/device-info.ts';
import { fleetRules } from './option-rules.ts';
import type { FleetOptions } from './options.ts';

const defaultCount = 10;
/** The TVs get a little more time than the run lasts, so that they can stop in an orderly way. */
const leewayFactor = 1.02;
const leewayMs = 1000;

/** The options of a run, with all defaults applied. */
export interface FleetPlan
  extends Pick<FleetOptions, 'lifeMs' | 'rotateEveryMs' | 'maxWaitSeconds'> {
  count: number;
  venue: string;
  speed: number;
  rampMs: number;
  /**
   * Time at which TVs without `lifeMs` stop, by their own clock, in milliseconds from the start.
   * `undefined`: they stop at the end of the run.
   */
  tvEndMs: number | undefined;
  /**
   * Latest time at which all TVs are asked to stop, in real milliseconds from the start of the run.
   * `undefined`: no limit.
   */
  endsAfterMs: number | undefined;
  startMs: number;
  seed: string;
  rules: readonly Fault[];
}

/** Throws `credential_missing` if screens must be created without a token. */
function checkCredential({ codes, token, keep }: FleetOptions): void {
  if (token === undefined && codes === undefined && keep === undefined) {
    throw new SignageError(
      'credential_missing',
      'Creating screens and codes requires a management token. Without one, pass pairing codes.',
    );
  }
}

function checkRules(rules: readonly Fault[], { codes, token }: FleetOptions): void {
  for (const { kind, rule } of rules) {
    if (kind === 'revoked-key' && token === undefined)
      throw invalidOption(`The fault ${rule} requires a management token, to revoke devices.`);
    if (kind === 'shared-code' && codes)
      throw invalidOption(
        `The fault ${rule} cannot be combined with given codes, because it creates its own.`,
      );
  }
}

/**
 * Applies the defaults and validates the options. Throws `invalid_option`, or `credential_missing`
 * if screens must be created without a token.
 */
export function planFleet(options: FleetOptions): FleetPlan {
  checkOptions(fleetRules, options);
  checkCredential(options);
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
    count: options.count ?? codes?.length ?? defaultCount,
    venue: options.venue ?? 'Simulated',
    speed,
    rampMs,
    lifeMs: options.lifeMs,
    rotateEveryMs: options.rotateEveryMs,
    maxWaitSeconds: options.maxWaitSeconds,
    tvEndMs: isByDuration && durationMs !== undefined ? durationMs * speed : undefined,
    endsAfterMs:
      durationMs !== undefined && isByDuration ? durationMs * leewayFactor + leewayMs : durationMs,
    startMs: options.startMs ?? clock.now(),
    seed: options.seed ?? String(Buffer.from(random(4)).readUInt32LE()),
    rules: (options.faults ?? []).map(parseFault),
  };
  checkRules(plan.rules, options);
  return plan;
}

/**
 * Returns the delay until the TV is switched on, and the length of its life. The clock of the TV
 * measures both. TVs that may share a code start together.
 */
export function timesOf(
  { count, rampMs, speed, lifeMs, tvEndMs = Number.POSITIVE_INFINITY }: FleetPlan,
  number: number,
) {
  const delayMs = Number.isFinite(speed) ? (rampMs * speed * (number - (number % 2))) / count : 0;
  return { delayMs, lifeMs: lifeMs ?? Math.max(0, tvEndMs - delayMs) };
}

/** Returns the TVs that first try the code of the TV before them (`shared-code`). */
export function sharersOf(
  { rules, count, seed }: FleetPlan,
  onFault: (rule: string) => void,
): ReadonlySet<number> {
  const sharers = new Set<number>();
  for (const rule of rules) {
    if (rule.kind !== 'shared-code') continue;
    const random = new SeededRandom(`${seed}/${rule.rule}`);
    for (let number = 1; number < count; number += 2) {
      if (!random.happens(rule.share)) continue;
      sharers.add(number);
      onFault(rule.rule);
    }
  }
  return sharers;
}

/** Returns the device info of a TV. The given models are assigned in rotation. */
export function deviceInfoOf(
  { seed }: FleetPlan,
  { deviceInfos = [] }: FleetOptions,
  number: number,
): DeviceInfoInput {
  const random = new SeededRandom(`${seed}/device ${number}`);
  return simulatedDeviceInfo(
    number + 1,
    (length) => random.bytes(length),
    deviceInfos[number % deviceInfos.length],
  );
}
