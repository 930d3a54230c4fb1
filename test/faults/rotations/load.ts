import { randomBytes } from 'node:crypto';
import { hashKey } from '../../../src/domain/api-key.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { mounted } from '../../support/mounted.ts';
import type { Answer } from '../../support/service.ts';

type Service = Awaited<ReturnType<typeof mounted>>;
type Chance = () => number;

/** Result of a run. */
export interface RotationReport {
  tvs: number;
  rotations: number;
  answers: number;
  lost: number;
  /** Duplicate requests that arrived later. */
  late: number;
  /** TVs with a dead current key, or with another working key. */
  wrong: string[];
}

/** Reproducible random numbers. */
function seeded(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A network that loses half of the answers and some requests, and delivers some requests again
 * later.
 */
class Network {
  readonly counts = { answers: 0, lost: 0, late: 0 };
  /** All keys issued by the service, delivered or not. */
  readonly issued: string[];
  readonly #services: readonly Service[];
  readonly #chance: Chance;
  #copies: (() => Promise<Answer>)[] = [];

  constructor(services: readonly Service[], chance: Chance, issued: string[]) {
    this.#services = services;
    this.#chance = chance;
    this.issued = issued;
  }

  /** Returns `undefined` if no answer arrives. */
  async send(
    path: string,
    method: string,
    key: string,
    secret?: string,
  ): Promise<Answer | undefined> {
    const deliver = () => this.#deliver(path, method, key, secret);
    if (this.#chance() < 0.1) this.#copies.push(deliver);
    if (this.#chance() < 0.05) return undefined;
    const answer = await deliver();
    if (this.#chance() < 0.3) await this.flush(1);
    this.counts.answers++;
    if (this.#chance() >= 0.5) return answer;
    this.counts.lost++;
    return undefined;
  }

  /** Delivers the pending duplicates. */
  async flush(atMost = Number.POSITIVE_INFINITY): Promise<void> {
    for (let left = atMost; left > 0 && this.#copies.length > 0; left--) {
      this.counts.late++;
      const [copy] = this.#copies.splice(Math.floor(this.#chance() * this.#copies.length), 1);
      await copy?.();
    }
  }

  async #deliver(
    path: string,
    method: string,
    key: string,
    secret: string | undefined,
  ): Promise<Answer> {
    const service = this.#services[Math.floor(this.#chance() * this.#services.length)] as Service;
    const answer = await service.send(method, path, {
      key,
      ...(secret !== undefined && { headers: { 'Idempotency-Key': secret } }),
    });
    if (answer.status === 201) this.issued.push(answer.body.apiKey);
    return answer;
  }
}

/** A TV that follows docs/protocol.md §2.8, but sometimes gives up or forgets a rotation. */
class RotatingTv {
  key: string;
  readonly #path: string;
  readonly #network: Network;
  readonly #chance: Chance;

  constructor(key: string, screenId: string, network: Network, chance: Chance) {
    this.key = key;
    this.#path = `/devices/${screenId}`;
    this.#network = network;
    this.#chance = chance;
  }

  async rotate(): Promise<void> {
    const next = await this.#newKey();
    if (next !== undefined && (await this.#works(next))) this.key = next;
  }

  async #newKey(): Promise<string | undefined> {
    for (let secret = randomBytes(12).toString('hex'); ; ) {
      const answer = await this.#network.send(
        `${this.#path}/keys/rotate`,
        'POST',
        this.key,
        secret,
      );
      if (answer?.status === 201) return answer.body.apiKey;
      // A late duplicate of an earlier rotation has replaced this key.
      const isReplaced = answer?.body.code === 'idempotency_key_reused';
      if (answer && !isReplaced)
        throw new Error(`the key of the TV is answered ${answer.status} ${answer.text}`);
      if (this.#chance() < 0.05) return undefined;
      if (isReplaced || this.#chance() < 0.2) secret = randomBytes(12).toString('hex');
    }
  }

  /**
   * Calls with a key until an answer arrives. If a late duplicate has replaced the key, the old one
   * still works.
   */
  async #works(key: string): Promise<boolean> {
    for (;;) {
      const answer = await this.#network.send(`${this.#path}/config`, 'GET', key);
      if (answer?.status === 200) return true;
      if (answer)
        return answer.body.code === 'device_key_revoked'
          ? false
          : Promise.reject(new Error(answer.text));
    }
  }
}

/**
 * Returns violations between two rotations: the TV's key must work, and at most one other key may
 * be pending.
 */
async function misfit(store: Store, deviceId: string, key: string): Promise<string | undefined> {
  const alive = (await store.read.select('deviceKeys', 'deviceId', [deviceId])).filter(
    ({ state }) => state !== 'revoked',
  );
  if (!alive.some(({ hash }) => hash === hashKey(key))) return 'its own key is dead';
  return alive.length > 2 ? `${alive.length} keys work` : undefined;
}

/** Returns violations of all issued keys: only the TV's key may work. */
async function probe(
  service: Service,
  screenId: string,
  keys: readonly string[],
  own: string,
): Promise<string[]> {
  const answered = async (key: string) => {
    const { status, body } = await service.send('GET', `/devices/${screenId}/config`, { key });
    return String(body?.code ?? status);
  };
  // The first call is the first use of a new key.
  const codes = [await answered(own)];
  const others = await Promise.all([...new Set(keys)].filter((key) => key !== own).map(answered));
  codes.push(await answered(own));
  const dead = ['device_key_revoked', 'device_key_invalid'];
  const wrong = others
    .filter((code) => !dead.includes(code))
    .map((code) => `another key is answered ${code}`);
  return [
    ...codes.filter((code) => code !== '200').map((code) => `its own key is answered ${code}`),
    ...wrong,
  ];
}

interface RotationLoad {
  tvs: number;
  /** Rotations of each TV. The last one has no losses. */
  rotations: number;
  seed: number;
}

/**
 * Rotates keys over a network that loses half of the answers, on two instances. `other` is a second
 * instance on the same rows.
 */
export async function rotateUnderLoss(
  store: Store,
  { tvs, rotations, seed }: RotationLoad,
  other = store,
): Promise<RotationReport> {
  const clock = new ManualClock();
  const calm = await mounted({ store, clock });
  const services = [calm, await mounted({ store: other, clock })];
  const report: RotationReport = { tvs, rotations: 0, answers: 0, lost: 0, late: 0, wrong: [] };
  async function run(n: number): Promise<void> {
    const { apiKey, screenId, deviceId } = await calm.tv();
    const chance = seeded(seed + n);
    const network = new Network(services, chance, [apiKey]);
    const tv = new RotatingTv(apiKey, screenId, network, chance);
    const complain = (what: string) => report.wrong.push(`TV ${n} of seed ${seed}: ${what}`);
    for (let turn = 0; turn < rotations; turn++) {
      await tv.rotate();
      report.rotations++;
      const what = await misfit(store, deviceId, tv.key);
      if (what !== undefined) complain(`after rotation ${turn}, ${what}`);
    }
    await network.flush();
    const last = await calm.send('POST', `/devices/${screenId}/keys/rotate`, { key: tv.key });
    for (const what of await probe(calm, screenId, network.issued, last.body.apiKey))
      complain(what);
    for (const name of ['answers', 'lost', 'late'] as const) report[name] += network.counts[name];
  }
  await Promise.all(Array.from({ length: tvs }, (_, n) => run(n)));
  return report;
}
