import type { Operation, RecordKind } from '../../../src/wire/operations/operations.ts';
import type { SchemaName } from '../../../src/wire/schemas.ts';
import { impression, item, type Manager, unknownId } from './management.ts';
import { idOf, someFile, upload } from './media.ts';
import type { Answer, TestService } from './service.ts';

/** Records that a body may refer to. */
interface Where {
  venueId?: string;
  screenId?: string;
}

/** Its address is refused once the name is resolved, so that no test calls it. */
const refusedUrl = 'https://localhost:9/hook';

/** Calls operations of the table with valid input. `maker` creates the records that they need. */
export function operationCalls(
  service: Pick<TestService, 'register' | 'send'>,
  maker: Manager,
  tenantId: string,
) {
  let count = 0;
  const givenFile = someFile(0);
  let lastLogin = { code: 'NONENONE', secret: 'none' };

  /** Creates a record of each kind, in the given venue or a new one. Returns its path parameter. */
  const make: Record<RecordKind, (venueId?: string) => Promise<string>> = {
    tenant: async () => tenantId,
    async token(venueId) {
      const reach = venueId === undefined ? {} : { venueIds: [venueId] };
      return (
        await maker.post('/v1/tokens', { name: `Made token ${++count}`, role: 'viewer', ...reach })
      ).body.id;
    },
    venue: async (venueId) => venueId ?? (await maker.venue(`Made site ${++count}`)).id,
    screen: async (venueId) => (await maker.screen(await make.venue(venueId), `TV ${++count}`)).id,
    async device(venueId) {
      const { code } = await maker.code(await make.screen(venueId));
      return (await service.register(code)).body.deviceId;
    },
    claim: async () =>
      (await service.send('POST', '/devices/claims', { body: { deviceInfo: {} } })).body.claim,
    async ticket(venueId) {
      const screenId = await make.screen(venueId);
      return (await maker.post('/v1/tickets', { screenId })).body.id;
    },
    async login() {
      // One address has few requests at a time.
      const { code, secret } = lastLogin;
      await service.send('DELETE', `/v1/logins/${code}`, { key: secret });
      const body = { user: 'alice', host: 'desk' };
      lastLogin = (await service.send('POST', '/v1/logins', { body })).body;
      return lastLogin.code;
    },
    async webhook(venueId) {
      const reach = venueId === undefined ? {} : { venueIds: [venueId] };
      return (await maker.post('/v1/webhooks', { url: refusedUrl, ...reach })).body.id;
    },
    media: async () => (await upload(maker, someFile(++count))).body.id,
    campaign: async () => (await maker.put(`/v1/campaigns/Made campaign ${++count}`, {})).body.id,
    pairing_code: async (venueId) => (await maker.code(await make.screen(venueId))).code,
  };

  /** Valid bodies. Records that they refer to are given, or created in the given venue. */
  const bodies: Partial<Record<SchemaName, (where: Where) => unknown>> = {
    codeCreation: async ({ screenId, venueId }) => ({
      screenId: screenId ?? (await make.screen(venueId)),
    }),
    claimCreation: () => ({ deviceInfo: {} }),
    offerCreation: async ({ screenId, venueId }) => ({
      screenId: screenId ?? (await make.screen(venueId)),
    }),
    ticketCreation: async ({ screenId, venueId }) => ({
      screenId: screenId ?? (await make.screen(venueId)),
    }),
    identifyInput: async ({ venueId }) => ({
      screenIds: [(await make.screen(venueId)) as string],
      seconds: 1,
    }),
    reloadInput: async ({ venueId }) => ({ screenIds: [(await make.screen(venueId)) as string] }),
    revocation: () => ({ reason: 'stolen' }),
    tenantCreation: () => ({ name: `Made tenant ${++count}` }),
    tenantPatch: () => ({}),
    tokenCreation: ({ venueId }) => ({
      name: `Made token ${++count}`,
      role: 'viewer',
      ...(venueId !== undefined && { venueIds: [venueId] }),
    }),
    loginCreation: () => ({ user: 'alice', host: 'desk' }),
    loginApproval: ({ venueId }) => ({
      name: `Made token ${++count}`,
      role: 'viewer',
      expiresAt: '2100-01-01T00:00:00Z',
      ...(venueId === undefined ? { allVenues: true } : { venueIds: [venueId] }),
    }),
    venueCreation: () => ({ name: `Made site ${++count}` }),
    venuePatch: () => ({ address: 'x' }),
    screenCreation: async ({ venueId }) => ({
      venueId: await make.venue(venueId),
      name: `TV ${++count}`,
    }),
    screenPatch: () => ({ labels: { a: '1' } }),
    publication: () => ({ items: [item()] }),
    bulkPublication: async ({ venueId }) => ({
      screenIds: [(await make.screen(venueId)) as string],
      action: 'publish',
      items: [item()],
    }),
    scheduleInput: () => ({ entries: [{ at: 1, until: 2, items: [item()] }] }),
    takeoverInput: () => ({ items: [item()], until: '2100-01-01T00:00:00Z' }),
    webhookCreation: ({ venueId }) => ({
      url: refusedUrl,
      ...(venueId !== undefined && { venueIds: [venueId] }),
    }),
    webhookPatch: () => ({ name: `Made webhook ${++count}` }),
    statementStart: () => ({ campaign: 'summer' }),
    statementResume: () => ({ campaign: 'summer', newLog: 'two' }),
    redelivery: () => ({ noticeIds: [unknownId] }),
    campaignInput: () => ({ name: `Made campaign ${++count}`, bookedPlays: count }),
    configInput: () => ({ syncIntervalMinutes: 7 }),
    eventBatch: () => [impression()],
    registration: async ({ venueId }) => ({
      pairingCode: await make.pairing_code(venueId),
      deviceInfo: {},
    }),
  };

  /** Returns a valid body, or `undefined` for an operation without one. */
  async function bodyOf({ body, upload }: Operation, where: Where): Promise<unknown> {
    if (upload) return givenFile;
    if (!body) return undefined;
    const make = bodies[body];
    if (!make) throw new Error(`Add a valid body for ${body} to operation-calls.ts.`);
    return make(where);
  }

  /** Sends an operation with a valid body. `id` replaces the parameter of the path. */
  async function perform(
    send: Manager['send'],
    operation: Operation,
    id: string,
    venueId?: string,
  ): Promise<Answer> {
    const body = await bodyOf(operation, venueId === undefined ? {} : { venueId });
    return send(
      operation.method,
      operation.path.replace(/:(id|name|code|claim)/, id),
      body === undefined ? {} : { body },
    );
  }

  const makeFor = async ({ record = 'tenant', upload }: Operation, venueId?: string) =>
    upload ? idOf(givenFile) : make[record](venueId);

  return { make, makeFor, bodyOf, perform };
}
