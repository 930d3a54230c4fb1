import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { impression } from '../../support/content.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startService, type TestService } from '../../support/service.ts';
import { FuzzRandom } from '../fuzz/random.ts';

const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const ttl = 15 * minute;
/**
 * Jumps around the ends of codes and lock-outs, and larger ones as by a dead clock battery or a
 * wrong time server.
 */
const jumpsMs = [second, 5 * minute, ttl - 1, ttl, ttl + 1, day, 40 * day].flatMap((ms) => [
  ms,
  -ms,
]);
const yearsMs = [400 * day, -400 * day, -4000 * day];

interface Code {
  code: string;
  screenId: string;
  /** Its final state, if reached. */
  end: 'used' | 'cancelled' | undefined;
}

/** One life of a service whose clock jumps. */
class Scenario {
  readonly found: string[] = [];
  readonly #fuzzRandom: FuzzRandom;
  readonly #clock: ManualClock;
  readonly #service: TestService;
  readonly #codes: Code[] = [];
  readonly #living = new Map<string, { screenId: string; apiKey: string }>();
  readonly #revoked: { screenId: string; apiKey: string }[] = [];
  #batches = 0;
  /** The clock was set back. Codes may have expired by the store's time, which never goes back. */
  #wasSetBack = false;

  constructor(fuzzRandom: FuzzRandom, clock: ManualClock, service: TestService) {
    this.#fuzzRandom = fuzzRandom;
    this.#clock = clock;
    this.#service = service;
  }

  #expect(what: string, got: unknown, ...allowed: unknown[]): void {
    if (!allowed.includes(got))
      this.found.push(`${what}: ${got}, when only ${allowed.join(' or ')} may be`);
  }

  jump(): void {
    const ms = this.#fuzzRandom.happens(0.15)
      ? this.#fuzzRandom.one(yearsMs)
      : this.#fuzzRandom.one(jumpsMs);
    this.#wasSetBack ||= ms < 0;
    this.#clock.set(this.#clock.now() + ms);
  }

  async make(): Promise<void> {
    const { id } = await this.#service.screen();
    for (let n = this.#fuzzRandom.whole(1, 2); n > 0; n--) {
      const { code } = await this.#service.code(id);
      this.#codes.push({ code, screenId: id, end: undefined });
    }
  }

  async register(): Promise<void> {
    const known = this.#codes.length > 0 ? this.#fuzzRandom.one(this.#codes) : undefined;
    if (!known) return;
    const before = await this.#service.manage(
      'GET',
      `/v1/devices/provisioning-codes/${known.code}/status`,
    );
    const { status, body } = await this.#service.register(known.code);
    // A finished code is forgotten after a day.
    if (before.status === 404) return this.#expect('a code that is forgotten', status, 404, 429);
    if (known.end === undefined) this.#expectRegistered(before.body, status);
    // It may be forgotten between the two requests.
    else
      this.#expect(`a code that was ${known.end}`, status, known.end === 'used' ? 409 : 410, 404);
    if (status !== 201) return;
    for (const other of this.#codes)
      if (other.screenId === known.screenId) other.end = other === known ? 'used' : 'cancelled';
    this.#living.set(body.deviceId, { screenId: known.screenId, apiKey: body.apiKey });
  }

  #expectRegistered(known: { status: string; expiresAt: string }, status: number): void {
    if (known.status === 'pending')
      this.#expect('a code that is pending', status, 201, ...(this.#wasSetBack ? [410, 404] : []));
    else
      this.#expect(
        `a code that is ${known.status}`,
        status,
        410,
        ...(this.#mayBeForgotten(known) ? [404] : []),
        ...(this.#wasSetBack ? [201] : []),
      );
  }

  /**
   * Returns whether a code may be forgotten between two requests: a day after its end, at
   * `expiresAt` or earlier.
   */
  #mayBeForgotten({ expiresAt }: { expiresAt: string }): boolean {
    return this.#wasSetBack || Date.parse(expiresAt) - ttl <= this.#clock.now() - day;
  }

  async revoke(): Promise<void> {
    const [deviceId, tv] = [...this.#living][0] ?? [];
    if (deviceId === undefined || tv === undefined) return;
    this.#expect(
      'revoke',
      (await this.#service.manage('POST', `/v1/devices/${deviceId}/revoke`)).status,
      200,
    );
    this.#living.delete(deviceId);
    this.#revoked.push(tv);
  }

  async play(): Promise<void> {
    for (const { screenId, apiKey } of this.#living.values()) {
      this.#expect(
        'a key that lives',
        (await this.#service.send('GET', `/devices/${screenId}/config`, { key: apiKey })).status,
        200,
      );
      const posted = await this.#service.send('POST', `/devices/${screenId}/events`, {
        key: apiKey,
        body: [impression()],
      });
      this.#expect('a batch', posted.status, 202);
      this.#batches++;
    }
    for (const { screenId, apiKey } of this.#revoked) {
      this.#expect(
        'a revoked key',
        (await this.#service.send('GET', `/devices/${screenId}/config`, { key: apiKey })).status,
        401,
      );
    }
  }

  /** Guesses until locked out. The lock-out must end after the longest wait. */
  async guess(): Promise<void> {
    const statuses = new Set<number>();
    for (let n = 0; n < 11; n++)
      statuses.add(
        (await this.#service.register(`ZZZZ${1000 + this.#fuzzRandom.whole(0, 8999)}`)).status,
      );
    this.#expect('a guess too many', statuses.has(429), true);
    this.#clock.advance(ttl + second);
    this.#expect(
      'a guess after the longest wait',
      (await this.#service.register('ZZZZ9999')).status,
      404,
    );
  }

  async ends(): Promise<void> {
    for (const { code, end } of this.#codes) {
      const { status, body } = await this.#service.manage(
        'GET',
        `/v1/devices/provisioning-codes/${code}/status`,
      );
      if (end !== undefined && status === 200)
        this.#expect(`a code that was ${end}`, body.status, end);
      else this.#expect('the status of a code', status, 200, 404);
    }
  }

  /** Expects each event on exactly one page, in both orders. */
  async pages(): Promise<void> {
    for (const order of ['asc', 'desc']) {
      const ids: string[] = [];
      let cursor = '';
      do {
        const { body } = await this.#service.manage(
          'GET',
          `/v1/events?limit=7&order=${order}${cursor}`,
        );
        ids.push(...body.items.map(({ id }: { id: string }) => id));
        cursor = body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(body.nextCursor)}`;
      } while (cursor !== '');
      this.#expect(`events on pages, ${order}`, ids.length, this.#batches);
      this.#expect(`different events on pages, ${order}`, new Set(ids).size, this.#batches);
    }
  }
}

/** Runs `steps` random actions with clock jumps. Returns the violations. */
export async function runTimeScenario(
  seed: string,
  steps: number,
  options: ServeOptions = {},
): Promise<string[]> {
  const fuzzRandom = new FuzzRandom(seed);
  const clock = new ManualClock();
  // Retention follows the clock, and nothing must become old enough.
  const service = await startService({ retentionDays: 36_500, ...options, clock });
  const scenario = new Scenario(fuzzRandom, clock, service);
  const happenings = [
    scenario.make,
    scenario.make,
    scenario.register,
    scenario.register,
    scenario.revoke,
    scenario.play,
    scenario.guess,
    scenario.ends,
  ];
  for (let step = 0; step < steps; step++) {
    if (fuzzRandom.happens(0.6)) scenario.jump();
    if (fuzzRandom.happens(0.1)) await service.restart();
    await fuzzRandom.one(happenings).call(scenario);
  }
  await scenario.play();
  await scenario.pages();
  await service.close();
  return scenario.found;
}
