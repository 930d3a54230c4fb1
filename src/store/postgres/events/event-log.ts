import type { Clock } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { shortHash } from '../../short-hash.ts';
import type { EventBatch } from '../../store.ts';
import type { Database } from '../connection/database.ts';
import { lacksPartition } from '../connection/errors.ts';
import { Batcher } from '../rows/batcher.ts';
import { keptCounts } from './batch-counts.ts';

/** Batches that share one commit. Of small ones, 64 take half the time each that 16 take; more gain nothing. */
const together = {
  lanes: 2,
  most: 64,
  mostWeight: 4 * 1024 * 1024,
  weightOf: ({ body }: EventBatch) => body.byteLength,
};
/** Days of which the partitions are made ahead. */
const daysAhead = 4;

/** Appends batches: those that come while others are being committed share the next commit. */
export class EventLog {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  readonly #stored: (topics: ReadonlySet<string>) => void;
  readonly #grouped: Batcher<EventBatch, string>;

  constructor(
    database: Database,
    clock: Clock | undefined,
    stored: (topics: ReadonlySet<string>) => void,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#stored = stored;
    this.#grouped = new Batcher(together, (batches: readonly EventBatch[]) => this.#store(batches));
  }

  async append(batch: EventBatch): Promise<'stored' | 'repeated'> {
    const outcome = await this.#grouped.do(batch);
    if (outcome === 'stored' || outcome === 'repeated') return outcome;
    throw new SignageError(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another batch: take a new one for each batch.',
    );
  }

  /** Waits until nothing is under way. */
  settled(): Promise<void> {
    return this.#grouped.settled();
  }

  /** Makes the partitions of today and the days to come. */
  async makeDays(): Promise<void> {
    const now = this.#clock?.now() ?? null;
    await this.#database.ask(
      'SELECT signage.add_days(coalesce($1::bigint, signage.now_ms()), $2::integer)',
      [now, daysAhead],
    );
  }

  async #store(batches: readonly EventBatch[]): Promise<string[]> {
    const outcomes = await this.#append(batches);
    const topics = batches
      .filter((_, place) => outcomes[place] === 'stored')
      .map(({ tenantId }) => `events/${tenantId}`);
    if (topics.length > 0) this.#stored(new Set(topics));
    return outcomes;
  }

  async #append(batches: readonly EventBatch[]): Promise<string[]> {
    try {
      return await this.#send(batches);
    } catch (error) {
      if (!lacksPartition(error)) throw error;
      await this.makeDays();
      return await this.#send(batches);
    }
  }

  /** One statement is one transaction: it is done, or it is not, whatever becomes of us meanwhile. */
  async #send(batches: readonly EventBatch[]): Promise<string[]> {
    const heads = JSON.stringify(batches.map(headOf));
    const bodies = batches
      .map(({ body }) => Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
      .join('\n');
    const now = this.#clock?.now() ?? null;
    const text = 'SELECT signage.append_batches($1::text, $2::text, $3::bigint) AS outcomes';
    const [answer] = (await this.#database.ask<{ outcomes: string }>(text, [
      heads,
      bodies,
      now,
    ])) as [{ outcomes: string }];
    return answer.outcomes.split(',');
  }
}

function headOf({ tenantId, venueId, screenId, deviceId, sums, idempotency }: EventBatch): object {
  const place = { tenant: tenantId, venue: venueId, screen: screenId, device: deviceId };
  const keys = idempotency && {
    key: shortHash(idempotency.key),
    sent: shortHash(idempotency.sent),
  };
  return { ...place, types: sums.types, counts: keptCounts(sums), ...keys };
}
