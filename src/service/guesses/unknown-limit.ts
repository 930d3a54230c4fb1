import { minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import type { GuessCounter } from '../../domain/records/pairing-code.ts';
import type { Store } from '../../store/store.ts';
import type { Principal } from '../context.ts';

/**
 * Limits of unknown texts within the window: of one token, and of all tokens of one tenant
 * (docs/protocol.md §3.6). If a tenant had the limit of one token, a person who mistypes would stop
 * all others. Without a limit, a tenant could make tokens to guess with.
 */
const maxOfToken = 10;
const maxOfTenant = 30;
const windowMs = 10 * minuteMs;

/** Short texts that tokens of every tenant may look up. */
interface GuessedTexts {
  /** Prefix of the counters. */
  topic: string;
  what: string;
  advice: string;
}

/**
 * Returns a function that counts a look-up of an unknown text. Beyond the limits, the function
 * throws `too_many_attempts`, even for a known text.
 */
export function makeUnknownLimit(
  store: Pick<Store, 'updateGuessCounters'>,
  { topic, what, advice }: GuessedTexts,
) {
  return async function judge({ actor, tenantId }: Principal, isUnknown: boolean): Promise<void> {
    const sources = [`${topic}/token/${actor.id}`, `${topic}/tenant/${tenantId}`];
    const limits = [maxOfToken, maxOfTenant];
    const waitMs = await store.updateGuessCounters(sources, (counters, nowMs) => {
      const current = counters.map((counter) => within(counter, nowMs));
      const waits = current.map((times, index) =>
        times.length < (limits[index] as number)
          ? 0
          : Math.min((times[0] as number) + windowMs - nowMs, windowMs),
      );
      const result = largest(waits);
      if (!isUnknown || result > 0) return { attempts: counters, result };
      const counted = current.map((times) => counterOf([...times, nowMs], nowMs));
      return { attempts: counted, result };
    });
    if (waitMs === 0) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
    const detail = `Too many ${what}: wait ${retryAfterSeconds} seconds, then ${advice}.`;
    throw new SignageError('too_many_attempts', detail, { retryAfterSeconds });
  };
}

const within = (counter: GuessCounter | undefined, nowMs: number) =>
  (counter?.times ?? []).filter((time) => Math.abs(nowMs - time) < windowMs);

const counterOf = (times: readonly number[], nowMs: number): GuessCounter => ({
  times,
  waitUntil: 0,
  waitMs: 0,
  forgetAt: nowMs + windowMs,
});
