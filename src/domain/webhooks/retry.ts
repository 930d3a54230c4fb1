import { dayMs, hasBegun, hourMs, minuteMs, type Random, secondMs } from '../clock.ts';
import type { WebhookDelivery } from './rows.ts';

/** Pauses between the attempts of one delivery, as Standard Webhooks proposes. */
const pausesMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];
const jitter = 0.1;
/** A receiver may not ask for a longer pause. */
const longestPauseMs = dayMs;
type DeliveryAttempts = Pick<WebhookDelivery, 'attempts' | 'nextAt'>;

/** A webhook without success for this long is disabled. */
export const disableAfterMs = 5 * dayMs;

/** `refused`: trying again is pointless. `gone`: the receiver wants no more messages. */
export type DeliveryVerdict = 'delivered' | 'retry' | 'refused' | 'gone';

export function verdictOf(status: number | null): DeliveryVerdict {
  if (status === null) return 'retry';
  if (status >= 200 && status < 300) return 'delivered';
  if (status === 410) return 'gone';
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return isRefusal ? 'refused' : 'retry';
}

/** Returns the pause that `Retry-After` asks for (RFC 9110 §10.2.3), or 0. */
function retryAfterMs(header: string | undefined, nowMs: number): number {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * secondMs : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), longestPauseMs);
}

/**
 * Returns the time at which an attempt is due. It is due at once if the last attempt seems to lie
 * ahead: then a clock that ran fast computed the pause, and has been corrected.
 */
export function dueAt({ attempts, nextAt }: DeliveryAttempts, nowMs: number): number {
  const last = attempts.at(-1);
  return last && hasBegun(nowMs, last.at) ? (nextAt ?? nowMs) : nowMs;
}

/**
 * Returns the time of the next attempt after `attempts` failed ones. `undefined`: there is none.
 */
export function nextAttemptAt(
  attempts: number,
  retryAfter: string | undefined,
  nowMs: number,
  random: Random,
): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  if (pauseMs === undefined) return undefined;
  const [byte = 0] = random(1);
  const spread = 1 + jitter * ((2 * byte) / 255 - 1);
  return nowMs + Math.max(Math.round(pauseMs * spread), retryAfterMs(retryAfter, nowMs));
}
