import fc from 'fast-check';
import type { Store } from '../../../src/store/store.ts';
import { mounted } from '../../support/service/mounted.ts';

/**
 * An action of a TV: a rotation with one of a few secrets or none, or a call with the newest key.
 */
export type Action = { do: 'rotate'; secret: number | undefined } | { do: 'use' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constant('rotate' as const), secret: fc.nat({ max: 7 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'rotate' as const, secret: undefined }) },
  { weight: 1, arbitrary: fc.constant({ do: 'use' as const }) },
);
export const scenarios = fc.array(action, { minLength: 1, maxLength: 24, size: 'max' });

type Service = Awaited<ReturnType<typeof mounted>>;

/** A TV, and the expected state of each of its keys (docs/protocol.md §2.8). */
class Told {
  readonly wrong: string[] = [];
  readonly dead = new Set<string>();
  readonly #service: Service;
  readonly #path: string;
  own: string;
  waiting: string | undefined;
  #secret: number | undefined;

  constructor(service: Service, { apiKey, screenId }: { apiKey: string; screenId: string }) {
    this.#service = service;
    this.#path = `/devices/${screenId}`;
    this.own = apiKey;
  }

  async rotate(secret: number | undefined): Promise<void> {
    const headers: Record<string, string> =
      secret === undefined ? {} : { 'Idempotency-Key': `one-of-the-secrets-${secret}` };
    const { status, body } = await this.#service.send('POST', `${this.#path}/keys/rotate`, {
      key: this.own,
      headers,
    });
    if (status === 400 && body.code === 'idempotency_key_reused') return;
    if (status !== 201) {
      this.wrong.push(`a rotation was answered ${status}`);
      return;
    }
    const isRepeat = this.waiting !== undefined && secret !== undefined && secret === this.#secret;
    if (this.dead.has(body.apiKey)) this.wrong.push('a key that was dead was given out again');
    if (isRepeat !== (body.apiKey === this.waiting))
      this.wrong.push(isRepeat ? 'a repeat got another key' : 'another secret got the same');
    if (this.waiting !== undefined && body.apiKey !== this.waiting) this.dead.add(this.waiting);
    [this.waiting, this.#secret] = [body.apiKey, secret];
  }

  async use(): Promise<void> {
    const status = await this.call(this.waiting ?? this.own);
    if (status !== 200) this.wrong.push(`the newest key was answered ${status}`);
    if (this.waiting === undefined) return;
    this.dead.add(this.own);
    [this.own, this.waiting, this.#secret] = [this.waiting, undefined, undefined];
  }

  async call(key: string): Promise<number> {
    return (await this.#service.send('GET', `${this.#path}/config`, { key })).status;
  }
}

/**
 * Runs actions of one TV. Returns violations: replaced keys stay dead, at most one key is pending,
 * and a repeat returns the same key.
 */
export async function runRotations(actions: readonly Action[], store: Store): Promise<string[]> {
  const service = await mounted({ store });
  const tv = await service.tv();
  const told = new Told(service, tv);
  for (const one of actions) await (one.do === 'use' ? told.use() : told.rotate(one.secret));
  const alive = (await store.read.select('deviceKeys', 'deviceId', [tv.deviceId])).filter(
    ({ state }) => state !== 'revoked',
  );
  const { waiting, dead, wrong } = told;
  if (alive.length !== (waiting === undefined ? 1 : 2)) wrong.push(`${alive.length} keys work`);
  for (const key of dead) if ((await told.call(key)) !== 401) wrong.push('a dead key works');
  return wrong;
}
