// Attacks on claims (docs/protocol.md §3.6), through real HTTP.
import { codeAlphabet } from '../../../src/domain/typed-code.ts';
import { SeededRandom } from '../../../src/simulator/seeded-random.ts';
import { type Sent, startService, type TestService } from '../../support/service/service.ts';

const minute = 60_000;

interface Claim {
  claim: string;
  token: string;
  address: string;
  /** Screen that an installer has offered. */
  screenId: string | undefined;
}

/** Result of a run. */
export interface ClaimTotals {
  steps: number;
  guesses: number;
  /** TVs that an installer of the tenant paired, and how many of these pairings were tried. */
  paired: number;
  tried: number;
  /** Offers that strangers made to the claims of others. */
  stolen: number;
  /** Links that several TVs used, and the TVs of shared tickets that an installer paired. */
  links: number;
  ticketed: number;
  findings: string[];
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

/** One tenant with honest installers and TVs, and attackers with every other kind of credential. */
class ClaimAttack {
  readonly #service: TestService;
  readonly #random: SeededRandom;
  readonly #totals: ClaimTotals = {
    steps: 0,
    guesses: 0,
    paired: 0,
    tried: 0,
    stolen: 0,
    links: 0,
    ticketed: 0,
    findings: [],
  };
  /** Screens whose TV an installer of the tenant has paired. */
  readonly #allowed = new Set<string>();
  readonly #live: Claim[] = [];
  #installer = '';
  #weakTokens: string[] = [];
  #strangers: string[] = [];
  #strangersScreen = '';
  /** A shared ticket, of which everybody has a copy. */
  #shared = '';
  #ticketVenue = '';
  #next = 0;

  constructor(service: TestService, seed: string) {
    this.#service = service;
    this.#random = new SeededRandom(seed);
  }

  async prepare(): Promise<void> {
    const service = this.#service;
    const tv = await service.tv();
    this.#allowed.add(tv.screenId);
    this.#installer = await service.token('installer');
    this.#weakTokens = [await service.token('viewer'), tv.apiKey, `mak_${'x'.repeat(49)}`];
    const own = (await service.manage('GET', '/v1/me')).body.tenantId;
    const tenants = (await service.manage('GET', '/v1/tenants')).body.items;
    service.tenantId = (await service.manage('POST', '/v1/tenants', { name: 'Strangers' })).body.id;
    this.#strangers = [await service.token('installer'), await service.token('installer')];
    this.#strangersScreen = (await service.screen()).id;
    service.tenantId = own ?? tenants[0].id;
    this.#ticketVenue = (await service.venue()).id;
    await this.#renewTicket();
  }

  async #renewTicket(): Promise<void> {
    const body = { venueId: this.#ticketVenue, uses: 500 };
    this.#shared = (await this.#service.manage('POST', '/v1/tickets', body)).body.ticket;
  }

  async step(): Promise<void> {
    const steps = [
      () => this.#show(),
      () => this.#pairHonestly(),
      () => this.#guess(),
      () => this.#offerWithoutRight(),
      () => this.#readForeignClaim(),
      () => this.#offerAsStranger(),
      () => this.#race(),
      () => this.#followLink(),
      () => this.#waitWithTicket(),
      async () => void this.#service.clock.advance(Math.floor(this.#random.between(0, 3 * minute))),
    ];
    this.#totals.steps++;
    await steps[Math.floor(this.#random.between(0, steps.length))]?.();
  }

  async end(): Promise<ClaimTotals> {
    const { body } = await this.#service.manage('GET', '/v1/devices?limit=200');
    for (const { screenId, state } of body.items)
      if (state === 'bound' && !this.#allowed.has(screenId))
        this.#find(`screen ${screenId} was bound without an installer of its tenant`);
    return this.#totals;
  }

  #find(what: string): void {
    this.#totals.findings.push(what);
  }

  async #show(): Promise<void> {
    const address = `203.0.113.${1 + (this.#next++ % 200)}`;
    const { status, body } = await this.#service.send('POST', '/devices/claims', {
      body: { deviceInfo: { model: 'TV' } },
      ...from(address),
    });
    if (status === 201) this.#live.push({ ...body, address, screenId: undefined });
    else if (status !== 429) this.#find(`a claim was answered with ${status}`);
  }

  #pick(): Claim | undefined {
    return this.#live[Math.floor(this.#random.between(0, this.#live.length))];
  }

  /** `sent` has the address of the caller, by default that of the service's own machine. */
  #offer(claim: string, screenId: string, key: string, sent: Sent = {}) {
    const path = `/v1/devices/claims/${claim}/offer`;
    return this.#service.send('POST', path, { key, body: { screenId }, ...sent });
  }

  #read({ claim, address }: Claim, token: string) {
    return this.#service.send('GET', `/devices/claims/${claim}`, { key: token, ...from(address) });
  }

  async #pairHonestly(): Promise<void> {
    const one = this.#live.find(({ screenId }) => screenId === undefined);
    if (!one) return;
    const screen = await this.#service.screen();
    const { status } = await this.#offer(one.claim, screen.id, this.#installer);
    this.#live.splice(this.#live.indexOf(one), 1);
    // The claim may have expired.
    if (status === 404) return;
    if (status === 429) return this.#waitForLimit();
    this.#totals.tried++;
    const { body } = await this.#read(one, one.token);
    if (status !== 201) return this.#find(`an honest offer was answered with ${status}`);
    this.#allowed.add(screen.id);
    const registered = await this.#service.register(body.pairingCode, from(one.address));
    if (registered.status === 201 && registered.body.screenId === screen.id) this.#totals.paired++;
    else this.#find(`an offered code was answered with ${registered.status}`);
  }

  /** The installer has asked for too many claims that had expired (docs/protocol.md §3.6). */
  #waitForLimit(): void {
    this.#service.clock.advance(10 * minute);
  }

  /** Guesses claims, and the secrets of claims. */
  async #guess(): Promise<void> {
    const claim = Array.from({ length: 6 }, () =>
      codeAlphabet.charAt(Math.floor(this.#random.between(0, codeAlphabet.length))),
    ).join('');
    const known = this.#pick();
    const key = this.#strangers[this.#next++ % this.#strangers.length] as string;
    this.#totals.guesses += 3;
    const answers = [
      await this.#service.send('GET', `/v1/devices/claims/${claim}`, { key }),
      await this.#service.send('GET', `/devices/claims/${known?.claim ?? claim}`, {
        key: `clm_${'0'.repeat(49)}`,
      }),
      await this.#offer(claim, this.#strangersScreen, key),
    ];
    for (const { status, text } of answers) {
      if (![404, 429].includes(status)) this.#find(`a guess was answered with ${status}`);
      if (/pairingCode":"/.test(text)) this.#find('a guess was answered with a code');
    }
  }

  async #offerWithoutRight(): Promise<void> {
    const one = this.#pick();
    if (!one) return;
    const screen = await this.#service.screen();
    for (const key of [...this.#weakTokens, one.token]) {
      const { status } = await this.#offer(one.claim, screen.id, key);
      if (![401, 403].includes(status)) this.#find(`an offer without right got ${status}`);
    }
  }

  /** The secret of one claim must not open another. */
  async #readForeignClaim(): Promise<void> {
    const [one, other] = [this.#pick(), this.#pick()];
    if (!one || !other || one.claim === other.claim) return;
    const { status } = await this.#read(one, other.token);
    if (status !== 404) this.#find(`a foreign claim was answered with ${status}`);
  }

  /**
   * A stranger who has seen the claim offers a screen, every other time from the TV's own address,
   * such as a guest on the Wi-Fi of the shop: the TV must ask before it registers.
   */
  async #offerAsStranger(): Promise<void> {
    const one = this.#live.find(({ screenId }) => screenId === undefined);
    if (!one) return;
    const key = this.#strangers[0] as string;
    const foreign = await this.#service.screen();
    const sent = this.#next++ % 2 === 0 ? from(one.address) : {};
    const stolen = await this.#offer(one.claim, foreign.id, key, sent);
    if (![404, 429].includes(stolen.status))
      this.#find(`a stranger offered a screen of the tenant: ${stolen.status}`);
    const { status } = await this.#offer(one.claim, this.#strangersScreen, key, sent);
    if (status !== 201) return;
    this.#totals.stolen++;
    this.#live.splice(this.#live.indexOf(one), 1);
    const { body } = await this.#read(one, one.token);
    if (body?.offer?.confirm !== true) this.#find("a TV would accept a stranger's offer unasked");
    const path = `/v1/devices/claims/${one.claim}`;
    const seen = await this.#service.send('GET', path, { key: this.#installer });
    if (![404, 429].includes(seen.status))
      this.#find(`a claim of another tenant was shown: ${seen.status}`);
  }

  /** Makes a claim with a ticket, and registers if a screen is offered. Returns the screen. */
  async #enrol(ticket: string, address: string, deviceInfo: object = {}) {
    const made = await this.#service.send('POST', '/devices/claims', {
      body: { deviceInfo, ticket },
      ...from(address),
    });
    if (made.status !== 201) return { refused: made.status };
    const one: Claim = { ...made.body, address, screenId: undefined };
    const { body } = await this.#read(one, one.token);
    if (!body?.pairingCode) return { one };
    const registered = await this.#service.register(body.pairingCode, from(address));
    return { one, bound: registered.body.screenId as string | undefined };
  }

  /**
   * A link is used by its TV and by thieves at once, and again later. Every third one belongs to a
   * screen that has a TV.
   */
  async #followLink(): Promise<void> {
    const screen = await this.#service.screen();
    const creation = { screenId: screen.id };
    const { ticket } = (await this.#service.manage('POST', '/v1/tickets', creation)).body;
    const isTaken = this.#totals.links++ % 3 === 0;
    if (isTaken) await this.#service.tv(screen.id);
    this.#allowed.add(screen.id);
    const all = await Promise.all(
      [1, 2, 3].map((n) => this.#enrol(ticket, `198.51.100.${n}`, { serial: 'S-1' })),
    );
    all.push(await this.#enrol(ticket, '198.51.100.9'));
    const bound = all.flatMap(({ bound: id }) => id ?? []);
    if (bound.some((id) => id !== screen.id)) this.#find('a link bound another screen');
    if (bound.length !== (isTaken ? 0 : 1)) this.#find(`a link bound ${bound.length} TVs`);
  }

  /** A TV and a thief wait with the same ticket. Strangers, too, know both claims. */
  async #waitWithTicket(): Promise<void> {
    const screen = await this.#service.screen({ venueId: this.#ticketVenue, serial: 'S-1' });
    const tv = await this.#enrol(this.#shared, '203.0.113.250', { serial: 'S-1' });
    const thief = await this.#enrol(this.#shared, '198.51.100.8', { serial: 'S-1' });
    if (tv.refused === 404) return this.#renewTicket();
    if (tv.bound || thief.bound) this.#find('a shared ticket bound a TV without an installer');
    for (const { one } of [tv, thief]) {
      if (!one) continue;
      const stolen = await this.#offer(one.claim, this.#strangersScreen, this.#strangers[0]!);
      if (![404, 429].includes(stolen.status)) this.#find(`a ticketed TV was ${stolen.status}`);
    }
    if (!tv.one) return;
    const { status } = await this.#offer(tv.one.claim, screen.id, this.#installer);
    if (status === 429) return this.#waitForLimit();
    if (status !== 201) return this.#find(`an offer to a ticketed TV got ${status}`);
    const { body } = await this.#read(tv.one, tv.one.token);
    if (body.offer.confirm) this.#find('a ticketed TV had to confirm');
    this.#allowed.add(screen.id);
    const registered = await this.#service.register(body.pairingCode, from(tv.one.address));
    if (registered.status === 201) this.#totals.ticketed++;
    else this.#find(`a ticketed TV got ${registered.status}`);
    const left = thief.one && (await this.#read(thief.one, thief.one.token));
    if (left && left.body.status !== 'waiting' && left.status !== 404)
      this.#find('a thief was offered a screen');
  }

  /** Only one of several simultaneous offers may win. */
  async #race(): Promise<void> {
    const one = this.#live.find(({ screenId }) => screenId === undefined);
    if (!one) return;
    const screens = await Promise.all([0, 1, 2].map(() => this.#service.screen()));
    const answers = await Promise.all(
      screens.map(({ id }) => this.#offer(one.claim, id, this.#installer)),
    );
    const won = answers.filter(({ status }) => status === 201).length;
    if (won > 1) this.#find(`${won} offers of one claim were accepted`);
    const winner = screens[answers.findIndex(({ status }) => status === 201)];
    if (winner) one.screenId = winner.id;
  }
}

/** Runs random steps of attackers and honest people. */
export async function runClaims({
  steps,
  seed,
}: {
  steps: number;
  seed: string;
}): Promise<ClaimTotals> {
  const service = await startService({ trustProxy: ['127.0.0.1'] });
  const attack = new ClaimAttack(service, seed);
  await attack.prepare();
  for (let n = 0; n < steps; n++) await attack.step();
  const totals = await attack.end();
  await service.close();
  return totals;
}
