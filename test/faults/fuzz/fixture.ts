import type { Operation } from '../../../src/wire/operations/operations.ts';
import { item, type Manager, manager, unknownId } from '../../support/service/management.ts';
import type { TestService } from '../../support/service/service.ts';
import { type JsonSchema, type Taken, takenBy } from './json-arbitrary.ts';

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
interface Records {
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
  records: Records = {
    ...{ tenants: [], venues: [], screens: [], freeScreens: [], devices: [], tokenIds: [] },
    ...{ codes: [], claims: [], tvs: [], tokens: [] },
  };
  readonly #service: Pick<TestService, 'send'>;
  readonly #platform: Manager;
  #tenantId = '';
  #count = 0;

  readonly #document: JsonSchema;
  readonly #taken = new Map<Operation, Taken>();

  constructor(service: Pick<TestService, 'send'>, adminToken: string, document: JsonSchema) {
    this.#service = service;
    this.#document = document;
    this.#platform = manager(service, adminToken);
  }

  get platformToken(): string {
    return this.#platform.token;
  }

  get tenantId(): string {
    return this.#tenantId;
  }

  /** Returns what an operation takes. */
  taken(operation: Operation): Taken {
    const known = this.#taken.get(operation) ?? takenBy(this.#document, operation);
    this.#taken.set(operation, known);
    return known;
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
    const last = this.records;
    this.records = {
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

  /** Returns ids, or other good values, for a member or parameter of this name. */
  readonly known = (name: string): readonly string[] | undefined => {
    const { tenants, venues, screens, freeScreens, devices, codes } = this.records;
    const byName: Record<string, readonly string[]> = {
      venueId: venues,
      venueIds: venues,
      screenId: freeScreens,
      deviceId: devices,
      pairingCode: codes,
      tenantId: tenants,
      subjectId: screens,
      // The schemas only say that these are strings.
      expiresAt: ['2099-12-31T00:00:00Z'],
      timezone: ['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'america/new_york', 'Asia/Kolkata'],
      creativeUrl: ['https://media.example.com/a.mp4'],
      type: ['impression', 'heartbeat', 'log', 'app_started'],
    };
    return byName[name];
  };

  /** Returns values for the variable of a path. */
  idsInPath(path: string): readonly string[] {
    const { tenants, venues, screens, devices, tokenIds, codes, claims } = this.records;
    const kinds: [RegExp, readonly string[]][] = [
      [/provisioning-codes/, codes],
      [/\/claims\//, claims.map(({ claim }) => claim)],
      [/^\/v1\/tenants/, tenants],
      [/^\/v1\/tokens/, tokenIds],
      [/^\/v1\/venues/, venues],
      [/^\/v1\/screens/, screens],
      [/^\/v1\/devices/, devices],
    ];
    return kinds.find(([form]) => form.test(path))?.[1] ?? [unknownId];
  }
}
