import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { shortHash } from '../short-hash.ts';
import type { EventBatch } from '../store.ts';
import { keptCounts } from './batch-counts.ts';
import type { Database } from './database.ts';
import { lacksPartition } from './failure.ts';

/** Batches that share one commit. Of small ones, 64 take half the time each that 16 take; more gain nothing. */
const mostBatches = 64;
const mostBytes = 4 * 1024 * 1024;
/** Groups under way: while one is committed, the next is on its way. */
const lanes = 2;
/** Days of which the partitions are made ahead. */
const daysAhead = 4;

interface Waiting {
  batch: EventBatch;
  resolve(outcome: string): void;
  reject(error: unknown): void;
}

/** Appends batches: those that come while others are being committed share the next commit. */
export class EventLog {
  readonly #database: Database;
  readonly #clock: Clock | undefined;
  readonly #stored: (topics: ReadonlySet<string>) => void;
  readonly #waiting: Waiting[] = [];
  readonly #lanes = new Set<Promise<void>>();

  constructor(database: Database, clock: Clock | undefined, stored: (topics: ReadonlySet<string>) => void) {
    this.#database = database;
    this.#clock = clock;
    this.#stored = stored;
  }

  async append(batch: EventBatch): Promise<'stored' | 'repeated'> {
    const outcome = await new Promise<string>((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      if (this.#lanes.size < lanes) this.#open();
    });
    if (outcome === 'stored' || outcome === 'repeated') return outcome;
    throw new SignageError('idempotency_key_reused', 'This Idempotency-Key was used for another batch: take a new one for each batch.');
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#lanes);
  }

  /** Makes the partitions of today and the days to come. */
  async makeDays(): Promise<void> {
    const now = this.#clock?.now() ?? null;
    await this.#database.ask('SELECT signage.add_days(coalesce($1::bigint, signage.now_ms()), $2::integer)', [now, daysAhead]);
  }

  #open(): void {
    // After those that come in the same turn of the event loop.
    const lane = Promise.resolve()
      .then(() => this.#drain())
      .finally(() => this.#lanes.delete(lane));
    this.#lanes.add(lane);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) await this.#store(this.#take());
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { batch } of this.#waiting.slice(0, mostBatches)) {
      bytes += batch.body.byteLength;
      if (count > 0 && bytes > mostBytes) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #store(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#append(group.map(({ batch }) => batch));
      const topics = group.filter((_, place) => outcomes[place] === 'stored').map(({ batch }) => `events/${batch.tenantId}`);
      if (topics.length > 0) this.#stored(new Set(topics));
      for (const [place, { resolve }] of group.entries()) resolve(outcomes[place] as string);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
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
    const bodies = batches.map(({ body }) => Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()).join('\n');
    const now = this.#clock?.now() ?? null;
    const text = 'SELECT signage.append_batches($1::text, $2::text, $3::bigint) AS outcomes';
    const [answer] = (await this.#database.ask<{ outcomes: string }>(text, [heads, bodies, now])) as [{ outcomes: string }];
    return answer.outcomes.split(',');
  }
}

function headOf({ tenantId, venueId, screenId, deviceId, events, idempotency }: EventBatch): object {
  const place = { tenant: tenantId, venue: venueId, screen: screenId, device: deviceId };
  const types = [...new Set(events.map(({ type }) => type))];
  const keys = idempotency && { key: shortHash(idempotency.key), sent: shortHash(idempotency.sent) };
  return { ...place, types, counts: keptCounts(events, { venueId, screenId }), ...keys };
}
