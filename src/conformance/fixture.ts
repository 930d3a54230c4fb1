import { type Clock, type Random, randomHex } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { Role } from '../domain/records/role.ts';
import { type Answer, listAt, statusAndCode, textAt } from './answer.ts';
import type { Cleanup } from './cleanup.ts';
import { item } from './content.ts';
import type { RequestContent, Send } from './send.ts';

/** A registered TV. */
export interface Tv {
  deviceId: string;
  screenId: string;
  tenantId: string;
  apiKey: string;
  /** The pairing code that the TV registered with. */
  code: string;
  /** The response to the registration. */
  registered: Answer;
  /** Sends a request to `/devices/<screen>/<path>` with the key of the TV. */
  send(method: string, name: string, sent?: RequestContent): Promise<Answer>;
}

export interface FixtureOptions {
  send: Send;
  cleanup: Cleanup;
  /** The management token. */
  token: string;
  /** The tenant to act in, for `X-Tenant-Id`. `undefined`: the tenant of the token. */
  tenantId: string | undefined;
  /** Prefix of the names of created venues, tokens and tenants. Screens have it as a label. */
  name: string;
  clock: Clock;
  random: Random;
  /** Ends waits when it aborts. `undefined`: waits always last their whole time. */
  signal: AbortSignal | undefined;
}

/**
 * Provides the checks with a venue, screens and TVs. Registers all records that it creates for
 * cleanup.
 */
export class Fixture {
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly #options: FixtureOptions;
  readonly #results = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(options: FixtureOptions) {
    this.name = options.name;
    this.clock = options.clock;
    this.signal = options.signal;
    this.#options = options;
  }

  /** Sends one request and resolves with the response, even if it is an error. */
  async send(method: string, path: string, sent: RequestContent = {}): Promise<Answer> {
    const answer = await this.#options.send(method, path, sent);
    this.#options.cleanup.register(method, path, sent, answer);
    return answer;
  }

  /** Sends a request with the management token of the run. */
  manage(
    method: string,
    path: string,
    body?: unknown,
    { headers, ...sent }: RequestContent = {},
  ): Promise<Answer> {
    const { token, tenantId } = this.#options;
    const own = { key: token, ...(body !== undefined && { body }), ...sent };
    return this.send(method, path, {
      ...own,
      headers: { ...(tenantId !== undefined && { 'x-tenant-id': tenantId }), ...headers },
    });
  }

  /** Sends a request with the management token but without `X-Tenant-Id`. */
  manageAnywhere(method: string, path: string): Promise<Answer> {
    return this.send(method, path, { key: this.#options.token });
  }

  /** Sends a request with a token from `token()`. */
  async as(token: Promise<string>, method: string, path: string, body?: unknown): Promise<Answer> {
    return this.send(method, path, { key: await token, ...(body !== undefined && { body }) });
  }

  /** Like `manage`, for setup that must succeed. Returns the body. Throws `set_up_failed`. */
  async requireOk(method: string, path: string, body?: unknown): Promise<unknown> {
    return bodyOfSuccess(await this.manage(method, path, body), `${method} ${path}`);
  }

  /**
   * Memoizes the result of `make` by name. All
   * checks of a run share the results.
   */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const result = this.#results.get(name) ?? make();
    this.#results.set(name, result);
    return result as Promise<T>;
  }

  /** Returns a number that is unique in this run. The first is 1. */
  nextNumber(): number {
    return ++this.#count;
  }

  /** Returns a timestamp that is unique in this run, so that a check can find its events again. */
  uniqueTimestamp(): number {
    return 1_760_000_000 + this.nextNumber();
  }

  /** Returns a new `Idempotency-Key`. */
  idempotencyKey(): string {
    return randomHex(this.#options.random, 16);
  }

  /** Creates a venue and returns its id. */
  async newVenue(name = `${this.name} ${this.nextNumber()}`): Promise<string> {
    return textAt(
      await this.requireOk('POST', '/v1/venues', { name, labels: this.labels() }),
      'id',
    );
  }

  /** Returns the id of the shared venue, for checks that need no venue of their own. */
  venue(): Promise<string> {
    return this.once('venue', () => this.newVenue(this.name));
  }

  /** Returns labels that mark the created records. */
  labels(): Record<string, string> {
    return { 'signage-conformance': this.name };
  }

  /** Creates a screen and returns its id. */
  async screen(venueId?: string): Promise<string> {
    const body = {
      venueId: venueId ?? (await this.venue()),
      name: `Screen ${this.nextNumber()}`,
      labels: this.labels(),
    };
    return textAt(await this.requireOk('POST', '/v1/screens', body), 'id');
  }

  /** Creates a pairing code for the given screen, or for a new one. */
  async code(screenId?: string): Promise<{ code: string; screenId: string }> {
    const id = screenId ?? (await this.screen());
    return {
      code: textAt(
        await this.requireOk('POST', '/v1/devices/provisioning-codes', { screenId: id }),
        'code',
      ),
      screenId: id,
    };
  }

  /** Returns an unused code, for registrations that must be rejected. */
  spareCode(): Promise<string> {
    return this.once('spare code', async () => (await this.code()).code);
  }

  /** Registers with a code and resolves with the response, even if it is an error. */
  register(
    pairingCode: string,
    deviceInfo: unknown = {},
    sent: RequestContent = {},
  ): Promise<Answer> {
    return this.send('POST', '/devices/register', { body: { pairingCode, deviceInfo }, ...sent });
  }

  /** Registers a TV on the given screen, or on a new one. */
  async newTv(screen?: string): Promise<Tv> {
    const { code, screenId } = await this.code(screen);
    const registered = await this.register(code);
    const json = bodyOfSuccess(registered, 'POST /devices/register');
    const apiKey = textAt(json, 'apiKey');
    const send = (method: string, name: string, sent: RequestContent = {}) =>
      this.send(method, `/devices/${screenId}/${name}`, { key: apiKey, ...sent });
    return {
      deviceId: textAt(json, 'deviceId'),
      screenId,
      tenantId: textAt(json, 'tenantId'),
      apiKey,
      code,
      registered,
      send,
    };
  }

  /** Returns a shared TV with a playlist. Checks must not change the TV. */
  tv(): Promise<Tv> {
    return this.once('tv', async () => {
      const tv = await this.newTv();
      await this.requireOk('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
      return tv;
    });
  }

  /** Returns a shared TV whose screen has neither a playlist nor a config. */
  plainTv(): Promise<Tv> {
    return this.once('plain TV', () => this.newTv());
  }

  /** Returns a shared token of this role, for the whole tenant or for these venues. */
  token(role: Role, venueIds?: readonly string[]): Promise<string> {
    return this.once(`token ${role} ${venueIds ?? ''}`, async () => {
      const body = {
        name: `${this.name} ${role} ${this.nextNumber()}`,
        role,
        ...(venueIds && { venueIds }),
      };
      return textAt(await this.requireOk('POST', '/v1/tokens', body), 'token');
    });
  }

  /** Returns the stored events of a TV with this timestamp, newest first. */
  async stored(tv: Tv, timestamp: number): Promise<readonly unknown[]> {
    const listed = await this.requireOk('GET', `/v1/events?deviceId=${tv.deviceId}&limit=200`);
    const events = listAt(listed, 'items').map((one) => (one as { event?: unknown } | null)?.event);
    return events.filter(
      (event) => (event as { timestamp?: unknown } | null)?.timestamp === timestamp,
    );
  }
}

function bodyOfSuccess(answer: Answer, name: string): unknown {
  if (answer.status >= 200 && answer.status < 300) return answer.json;
  throw new SignageError('set_up_failed', `${name} answered ${statusAndCode(answer)}`);
}
