import { item, type Manager, manager, unknownId } from '../../support/management.ts';
import type { TestService } from '../../support/service.ts';
import type { FuzzRandom } from './random.ts';

interface Claim {
  claim: string;
  token: string;
}

interface Tv {
  screenId: string;
  deviceId: string;
  apiKey: string;
}

/** Existing and recently deleted records. Requests that name them get further than 404. */
interface Known {
  tenants: string[];
  venues: string[];
  screens: string[];
  freeScreens: string[];
  devices: string[];
  tokenIds: string[];
  codes: string[];
  claims: Claim[];
  tvs: Tv[];
  /** Tokens of every role, bound to a venue, and of the platform. */
  tokens: string[];
}

const roles = ['viewer', 'installer', 'operator', 'admin'];

/**
 * The tenant, TVs and tokens of the requests. They are recreated regularly, because requests delete
 * and revoke.
 */
export class Fixture {
  known: Known = {
    tenants: [],
    venues: [],
    screens: [],
    freeScreens: [],
    devices: [],
    tokenIds: [],
    codes: [],
    claims: [],
    tvs: [],
    tokens: [],
  };
  readonly #service: Pick<TestService, 'send'>;
  readonly #platform: Manager;
  #tenantId = '';
  #count = 0;

  constructor(service: Pick<TestService, 'send'>, adminToken: string) {
    this.#service = service;
    this.#platform = manager(service, adminToken);
  }

  get platformToken(): string {
    return this.#platform.token;
  }

  /** A token of the role `admin` of the tenant. */
  get adminToken(): string {
    return this.known.tokens[roles.indexOf('admin')] ?? '';
  }

  get tenantId(): string {
    return this.#tenantId;
  }

  /** Creates a venue with screens, TVs, codes and tokens. Keeps some of the former records. */
  async renew(): Promise<void> {
    // biome-ignore lint/suspicious/noExplicitAny: records of every shape.
    const items = async (path: string): Promise<any[]> =>
      (await this.#platform.get(path)).body.items;
    const { id: tenantId } =
      (await items('/v1/tenants?name=default'))[0] ?? (await items('/v1/tenants'))[0];
    this.#tenantId = tenantId;
    const inside = this.#platform.in(tenantId);
    const name = () => `World ${++this.#count} ${crypto.randomUUID()}`;
    const { id: venueId } = await inside.venue(name());
    const screens = await Promise.all(
      [1, 2, 3, 4].map(
        async () => (await inside.screen(venueId, name(), { labels: { a: 'b' } })).id,
      ),
    );
    const tvs = await Promise.all(screens.slice(0, 2).map((screenId) => inside.tv(screenId)));
    for (const { screenId } of tvs)
      await inside.put(`/v1/screens/${screenId}/playlist`, { items: [item()] });
    const codes = await Promise.all(
      screens.slice(2).map(async (id) => (await inside.code(id)).code),
    );
    const claims = await Promise.all([1, 2].map(() => this.#newClaim()));
    const tokens = await Promise.all(roles.map((role) => inside.newToken({ role, name: name() })));
    tokens.push(await inside.newToken({ role: 'admin', name: name(), venueIds: [venueId] }));
    const last = this.known;
    this.known = {
      tenants: [tenantId, ...(await items('/v1/tenants?limit=2')).map(({ id }) => id)],
      venues: [venueId, ...last.venues.slice(0, 3)],
      screens: [...screens, ...last.screens.slice(0, 4)],
      freeScreens: screens.slice(2),
      devices: [...tvs.map(({ deviceId }) => deviceId), ...last.devices.slice(0, 3)],
      tokenIds: tokens.map(({ id }) => id),
      codes: [...codes, ...last.codes.slice(0, 3)],
      claims,
      tvs: [...tvs, ...last.tvs.slice(0, 2)],
      tokens: [...tokens.map(({ token }) => token), ...last.tokens.slice(0, 2)],
    };
  }

  async #newClaim(): Promise<Claim> {
    const body = { deviceInfo: { model: 'Fuzz' } };
    return (await this.#service.send('POST', '/devices/claims', { body })).body;
  }

  /** Returns an id for a member or parameter of this name, if there is one. */
  idFor(name: string, fuzzRandom: FuzzRandom): string | undefined {
    const ids = this.#idsByName(name);
    return ids === undefined || ids.length === 0 ? undefined : fuzzRandom.one(ids);
  }

  #idsByName(name: string): readonly string[] | undefined {
    const { tenants, venues, screens, freeScreens, devices, codes } = this.known;
    if (name === 'venueId' || name === 'venueIds') return venues;
    if (name === 'screenId') return freeScreens;
    if (name === 'deviceId') return devices;
    if (name === 'pairingCode') return codes;
    if (name === 'tenantId') return tenants;
    // The schema only says that it is a string.
    if (name === 'expiresAt') return ['2099-12-31T00:00:00Z'];
    return name === 'subjectId' ? screens : undefined;
  }

  /** Returns a value for the variable of a path. */
  idInPath(path: string, fuzzRandom: FuzzRandom): string {
    const { tenants, venues, screens, devices, tokenIds, codes, claims } = this.known;
    const kinds: [RegExp, readonly string[]][] = [
      [/provisioning-codes/, codes],
      [/\/claims\//, claims.map(({ claim }) => claim)],
      [/^\/v1\/tenants/, tenants],
      [/^\/v1\/tokens/, tokenIds],
      [/^\/v1\/venues/, venues],
      [/^\/v1\/screens/, screens],
      [/^\/v1\/devices/, devices],
    ];
    return fuzzRandom.one(kinds.find(([form]) => form.test(path))?.[1] ?? [unknownId]);
  }
}
