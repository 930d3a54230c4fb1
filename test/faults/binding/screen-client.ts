import type { mounted } from '../../support/service/mounted.ts';
import { type Answer, adminToken } from '../../support/service/service.ts';
import type { FuzzRandom } from '../fuzz/random.ts';
import type { ScreenCall } from './model.ts';

type Instance = Pick<Awaited<ReturnType<typeof mounted>>, 'send'>;
type Kind = ScreenCall['kind'];

const kinds: readonly Kind[] = [
  'create',
  'create',
  'register',
  'register',
  'register',
  'revoke',
  'fetch',
  'fetch',
  'look',
];

/** Calls about one screen, with its known codes, devices and keys. */
export class ScreenClient {
  readonly id: string;
  /** Violations that need no model. */
  readonly wrong: string[] = [];
  readonly #tick: { now: number };
  readonly #calls: ScreenCall[] = [];
  readonly #codes: string[] = [];
  readonly #keys = new Map<string, { apiKey: string; code: string }>();
  readonly #codeOf = new Map<string, string>();

  constructor(id: string, tick: { now: number }) {
    this.id = id;
    this.#tick = tick;
  }

  /** Makes one random call. */
  async call(fuzzRandom: FuzzRandom, instance: Instance): Promise<void> {
    const kind = fuzzRandom.one(kinds);
    const code = fuzzRandom.happens(0.7)
      ? this.#codes.at(-1)
      : this.#codes[fuzzRandom.whole(0, Math.max(0, this.#codes.length - 1))];
    const deviceId = [...this.#keys.keys()].at(
      fuzzRandom.happens(0.7) ? -1 : fuzzRandom.whole(0, this.#keys.size),
    );
    if (kind === 'register' && code !== undefined)
      return this.#register(instance, code, fuzzRandom.happens(0.5));
    if (kind === 'revoke' && deviceId !== undefined) return this.#revoke(instance, deviceId);
    if (kind === 'fetch' && deviceId !== undefined) return this.#fetch(instance, deviceId);
    if (kind === 'look') return this.#look(instance);
    return this.#create(instance);
  }

  /**
   * Returns all calls with devices replaced by their codes. Asks the service for codes that no
   * answer contained.
   */
  async history(instance: Instance): Promise<ScreenCall[]> {
    for (const code of this.#codes) {
      const { body } = await instance.send('GET', `/v1/devices/provisioning-codes/${code}/status`, {
        key: adminToken,
      });
      if (body.deviceId) this.#codeOf.set(body.deviceId, code);
    }
    return this.#calls.map((call) =>
      'device' in call && call.device !== null
        ? { ...call, device: this.#codeOf.get(call.device) ?? call.device }
        : call,
    );
  }

  told(): string {
    return this.#calls.map((call) => JSON.stringify(call)).join('\n');
  }

  async #ask(
    instance: Instance,
    method: string,
    path: string,
    sent: Parameters<Instance['send']>[2],
  ) {
    const called = ++this.#tick.now;
    const answer = await instance.send(method, path, sent);
    return { answer, times: { called, returned: ++this.#tick.now } };
  }

  /**
   * Returns the outcome of an answer, or `unknown` for 503. Records undocumented answers as
   * violations.
   */
  #outcome<T extends string>({ status, body }: Answer, said: Record<string, T>): T | 'unknown' {
    const outcome = said[status < 400 ? String(status) : body.code];
    if (outcome === undefined && status !== 503)
      this.wrong.push(`${status} ${body?.code ?? ''}, when only ${Object.keys(said)} may be`);
    return outcome ?? 'unknown';
  }

  async #create(instance: Instance): Promise<void> {
    const body = { screenId: this.id };
    const { answer, times } = await this.#ask(instance, 'POST', '/v1/devices/provisioning-codes', {
      key: adminToken,
      body,
    });
    const outcome = this.#outcome(answer, { 201: 'made', screen_already_bound: 'bound' } as const);
    const code = answer.status === 201 ? answer.body.code : `unheard of ${times.called}`;
    if (outcome === 'made') this.#codes.push(code);
    this.#calls.push({ kind: 'create', outcome, code, ...times });
  }

  async #register(instance: Instance, code: string, isRepeatable: boolean): Promise<void> {
    const headers: Record<string, string> = isRepeatable
      ? { 'idempotency-key': `the television of ${code}`.replaceAll(' ', '-') }
      : {};
    const body = { pairingCode: code, deviceInfo: {} };
    const { answer, times } = await this.#ask(instance, 'POST', '/devices/register', {
      headers,
      body,
    });
    const outcome = this.#outcome(answer, {
      201: 'bound',
      pairing_code_used: 'used',
      pairing_code_cancelled: 'cancelled',
    } as const);
    if (outcome === 'bound') this.#bound(code, answer.body);
    this.#calls.push({ kind: 'register', outcome, code, ...times });
  }

  #bound(code: string, { deviceId, apiKey }: { deviceId: string; apiKey: string }): void {
    const known = [...this.#keys].find(([, bound]) => bound.code === code);
    if (known && (known[0] !== deviceId || known[1].apiKey !== apiKey))
      this.wrong.push('one code bound two devices');
    this.#keys.set(deviceId, { apiKey, code });
    this.#codeOf.set(deviceId, code);
  }

  async #revoke(instance: Instance, device: string): Promise<void> {
    const { answer, times } = await this.#ask(instance, 'POST', `/v1/devices/${device}/revoke`, {
      key: adminToken,
    });
    this.#calls.push({
      kind: 'revoke',
      outcome: this.#outcome(answer, { 200: 'revoked' } as const),
      device,
      ...times,
    });
  }

  async #fetch(instance: Instance, device: string): Promise<void> {
    const key = this.#keys.get(device)?.apiKey as string;
    const { answer, times } = await this.#ask(instance, 'GET', `/devices/${this.id}/config`, {
      key,
    });
    const outcome = this.#outcome(answer, {
      200: 'served',
      device_key_revoked: 'refused',
    } as const);
    this.#calls.push({ kind: 'fetch', outcome, device, ...times });
  }

  async #look(instance: Instance): Promise<void> {
    const { answer, times } = await this.#ask(instance, 'GET', `/v1/screens/${this.id}`, {
      key: adminToken,
    });
    const outcome = this.#outcome(answer, { 200: 'seen' } as const);
    if (outcome === 'seen' && (answer.body.state === 'active') !== (answer.body.deviceId !== null))
      this.wrong.push('a screen is active without a device');
    this.#calls.push({ kind: 'look', outcome, device: answer.body?.deviceId ?? null, ...times });
  }
}
