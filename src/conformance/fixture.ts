import type { Clock, Random } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { Role } from '../domain/records/role.ts';
import { type Answer, listAt, said, textAt } from './answer.ts';
import type { Cleanup } from './cleanup.ts';
import { item } from './content.ts';
import type { Send, Sent } from './send.ts';

/** A TV that was registered. */
export interface Tv {
  deviceId: string;
  screenId: string;
  tenantId: string;
  apiKey: string;
  /** The code that it registered with, and the answer. */
  code: string;
  registered: Answer;
  /** Sends to `/devices/<its screen>/<what>` with its key. */
  send(method: string, what: string, sent?: Sent): Promise<Answer>;
}

export interface FixtureOptions {
  send: Send;
  traces: Cleanup;
  /** The management token, and the tenant that it names. */
  token: string;
  tenantId: string | undefined;
  /** What everything is called that is made here. */
  name: string;
  clock: Clock;
  random: Random;
  /** Ends waits. */
  signal: AbortSignal | undefined;
}

/** Where the rows play: a venue of its own, with the screens and TVs that they ask for. What is made here is noted, to be removed. */
export class Fixture {
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly #options: FixtureOptions;
  readonly #known = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(options: FixtureOptions) {
    this.name = options.name;
    this.clock = options.clock;
    this.signal = options.signal;
    this.#options = options;
  }

  /** One request, whatever the answer. */
  async send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const answer = await this.#options.send(method, path, sent);
    this.#options.traces.note(method, path, sent, answer);
    return answer;
  }

  /** The same as the manager whose token the run was given. */
  manage(
    method: string,
    path: string,
    body?: unknown,
    { headers, ...sent }: Sent = {},
  ): Promise<Answer> {
    const { token, tenantId } = this.#options;
    const own = { key: token, ...(body !== undefined && { body }), ...sent };
    return this.send(method, path, {
      ...own,
      headers: { ...(tenantId !== undefined && { 'x-tenant-id': tenantId }), ...headers },
    });
  }

  /** The same, leaving open which tenant is meant. */
  manageAnywhere(method: string, path: string): Promise<Answer> {
    return this.send(method, path, { key: this.#options.token });
  }

  /** One request with a token that `token` has made. */
  async as(token: Promise<string>, method: string, path: string, body?: unknown): Promise<Answer> {
    return this.send(method, path, { key: await token, ...(body !== undefined && { body }) });
  }

  /** As `manage`, for what has to succeed before a row can be looked at. Throws `set_up_failed`. */
  async made(method: string, path: string, body?: unknown): Promise<unknown> {
    return succeeded(await this.manage(method, path, body), `${method} ${path}`);
  }

  /** What is made at the first call, the same for all of the run. */
  once<T>(what: string, make: () => Promise<T>): Promise<T> {
    const known = this.#known.get(what) ?? make();
    this.#known.set(what, known);
    return known as Promise<T>;
  }

  /** A number that no other call gets, from 1. */
  next(): number {
    return ++this.#count;
  }

  /** A moment that events of one row share, by which they are found again. */
  moment(): number {
    return 1_760_000_000 + this.next();
  }

  /** A fresh `Idempotency-Key`. */
  key(): string {
    return Buffer.from(this.#options.random(16)).toString('hex');
  }

  /** The id of a new venue. */
  async newVenue(name = `${this.name} ${this.next()}`): Promise<string> {
    return textAt(await this.made('POST', '/v1/venues', { name, labels: this.labels() }), 'id');
  }

  /** The one in which everything plays that needs no other. */
  venue(): Promise<string> {
    return this.once('venue', () => this.newVenue(this.name));
  }

  labels(): Record<string, string> {
    return { 'signage-conformance': this.name };
  }

  /** The id of a new screen. */
  async screen(venueId?: string): Promise<string> {
    const body = {
      venueId: venueId ?? (await this.venue()),
      name: `Screen ${this.next()}`,
      labels: this.labels(),
    };
    return textAt(await this.made('POST', '/v1/screens', body), 'id');
  }

  /** A new code, for a new screen unless one is named. */
  async code(screenId?: string): Promise<{ code: string; screenId: string }> {
    const id = screenId ?? (await this.screen());
    return {
      code: textAt(
        await this.made('POST', '/v1/devices/provisioning-codes', { screenId: id }),
        'code',
      ),
      screenId: id,
    };
  }

  /** The code of a screen on which nothing is bound: for registrations that are to be refused. */
  spareCode(): Promise<string> {
    return this.once('spare code', async () => (await this.code()).code);
  }

  /** Registers with a code, whatever the answer. */
  register(pairingCode: string, deviceInfo: unknown = {}, sent: Sent = {}): Promise<Answer> {
    return this.send('POST', '/devices/register', { body: { pairingCode, deviceInfo }, ...sent });
  }

  /** A new TV, on a new screen unless one is named. */
  async newTv(screen?: string): Promise<Tv> {
    const { code, screenId } = await this.code(screen);
    const registered = await this.register(code);
    const json = succeeded(registered, 'POST /devices/register');
    const apiKey = textAt(json, 'apiKey');
    const send = (method: string, what: string, sent: Sent = {}) =>
      this.send(method, `/devices/${screenId}/${what}`, { key: apiKey, ...sent });
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

  /** A TV that plays: it has a playlist, and nothing else happens to it. */
  tv(): Promise<Tv> {
    return this.once('tv', async () => {
      const tv = await this.newTv();
      await this.made('PUT', `/v1/screens/${tv.screenId}/playlist`, { items: [item()] });
      return tv;
    });
  }

  /** A TV that was bound and has neither playlist nor config. */
  plainTv(): Promise<Tv> {
    return this.once('plain TV', () => this.newTv());
  }

  /** A token of this role, which sees the whole tenant, or these venues only. */
  token(role: Role, venueIds?: readonly string[]): Promise<string> {
    return this.once(`token ${role} ${venueIds ?? ''}`, async () => {
      const body = {
        name: `${this.name} ${role} ${this.next()}`,
        role,
        ...(venueIds && { venueIds }),
      };
      return textAt(await this.made('POST', '/v1/tokens', body), 'token');
    });
  }

  /** The events of a TV at this moment, as the service lists them, newest first. */
  async stored(tv: Tv, timestamp: number): Promise<readonly unknown[]> {
    const listed = await this.made('GET', `/v1/events?deviceId=${tv.deviceId}&limit=200`);
    const events = listAt(listed, 'items').map((one) => (one as { event?: unknown } | null)?.event);
    return events.filter(
      (event) => (event as { timestamp?: unknown } | null)?.timestamp === timestamp,
    );
  }
}

function succeeded(answer: Answer, what: string): unknown {
  if (answer.status >= 200 && answer.status < 300) return answer.json;
  throw new SignageError('set_up_failed', `${what} answered ${said(answer)}`);
}
