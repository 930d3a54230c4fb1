import type { Operation, RecordKind } from '../../src/wire/operations.ts';
import type { SchemaName } from '../../src/wire/schemas.ts';
import { impression, item, type Manager } from './management.ts';
import type { Answer, TestService } from './service.ts';

/** What a body may name. */
interface Where {
  venueId?: string;
  screenId?: string;
}

/**
 * What sends each operation of the table, with records made for it by a manager of the whole
 * tenant.
 */
export function operationCalls(
  service: Pick<TestService, 'register'>,
  maker: Manager,
  tenantId: string,
) {
  let count = 0;

  /**
   * Makes a record of each kind that nothing else needs, in a venue that is given or in one of its
   * own; answers what stands for it in a path.
   */
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
    pairing_code: async (venueId) => (await maker.code(await make.screen(venueId))).code,
  };

  /**
   * A body that each operation takes; what it names is the given one, or made in the venue that is
   * given.
   */
  const bodies: Partial<Record<SchemaName, (where: Where) => unknown>> = {
    codeCreation: async ({ screenId, venueId }) => ({
      screenId: screenId ?? (await make.screen(venueId)),
    }),
    revocation: () => ({ reason: 'stolen' }),
    tenantCreation: () => ({ name: `Made tenant ${++count}` }),
    tenantPatch: () => ({}),
    tokenCreation: ({ venueId }) => ({
      name: `Made token ${++count}`,
      role: 'viewer',
      ...(venueId !== undefined && { venueIds: [venueId] }),
    }),
    venueCreation: () => ({ name: `Made site ${++count}` }),
    venuePatch: () => ({ address: 'x' }),
    screenCreation: async ({ venueId }) => ({
      venueId: await make.venue(venueId),
      name: `TV ${++count}`,
    }),
    screenPatch: () => ({ labels: { a: '1' } }),
    publication: () => ({ items: [item()] }),
    configBody: () => ({ syncIntervalMinutes: 7 }),
    eventBatch: () => [impression()],
    registration: async ({ venueId }) => ({
      pairingCode: await make.pairing_code(venueId),
      deviceInfo: {},
    }),
  };

  /**
   * A good body for an operation; `undefined` where it takes none. An operation with a body of a
   * new kind needs an entry above.
   */
  async function bodyOf({ body }: Operation, where: Where): Promise<unknown> {
    if (!body) return undefined;
    const good = bodies[body];
    if (!good) throw new Error(`There is no good body known for ${body}: give it one here.`);
    return good(where);
  }

  /** Sends an operation with a good body; `id` stands for `:id` and `:code`. */
  async function perform(
    send: Manager['send'],
    operation: Operation,
    id: string,
    venueId?: string,
  ): Promise<Answer> {
    const body = await bodyOf(operation, venueId === undefined ? {} : { venueId });
    return send(
      operation.method,
      operation.path.replace(/:(id|code)/, id),
      body === undefined ? {} : { body },
    );
  }

  const makeFor = ({ record = 'tenant' }: Operation, venueId?: string) => make[record](venueId);

  return { make, makeFor, bodyOf, perform };
}
