// The matrix: every management operation, by every kind of caller (docs/protocol.md §1.3, §5.1,
// §5.8). Lists and bodies that name a venue are in venue-scope.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  mayAct,
  type RequiredRole,
  type Role,
  rankedRoles,
  roles,
} from '../../../src/domain/records/role.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import type { ServiceErrorCode } from '../../../src/wire/errors.ts';
import {
  type Operation,
  type OperationId,
  operations,
} from '../../../src/wire/operations/operations.ts';
import { type Assembled, assembled } from '../../support/process/assembled.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import {
  expectProblem,
  type Manager,
  manager,
  unknownId,
} from '../../support/service/management.ts';
import { operationCalls } from '../../support/service/operation-calls.ts';
import type { Answer } from '../../support/service/service.ts';

type Management = [OperationId, Operation & { access: RequiredRole }];

const table = Object.entries<Operation>(operations).filter(
  ([, { path, access }]) => path.startsWith('/v1/') && access !== 'public',
) as Management[];
/** A claim and a login request belong to no tenant. */
const withRecord = table.filter(
  ([, { record, access }]) =>
    record && !['claim', 'login'].includes(record) && access !== 'platform',
);
const rolesBelow = ({ access }: Management[1]) => roles.filter((role) => !mayAct(role, access));
const rolesFrom = ({ access }: Management[1]) => roles.filter((role) => mayAct(role, access));

let store: Store;
let service: Assembled;
let platform: Manager;
/** Callers in the tenant `home`, by role. */
let callers: Record<Role, Manager>;
/** Callers that are bound to the venue `inside`, by role. */
let bound: Partial<Record<Role, Manager>>;
let inside: string;
let outside: string;
/** An admin of another tenant, and a platform token that acts in that tenant. */
let foreigners: Manager[];
/** Expired, never used tokens of each kind of role. */
let expired: { id: string; token: string }[];
let deviceKey: string;
let calls: ReturnType<typeof operationCalls>;

async function boundTo(role: Role, venueId: string): Promise<Manager> {
  const creation = { name: crypto.randomUUID(), role, venueIds: [venueId] };
  return manager(service, (await callers.admin.newToken(creation)).token);
}

beforeAll(async () => {
  const clock = new ManualClock();
  store = await openStore('memory:', { clock });
  service = await assembled(store, clock);
  const { tenantId } = (await manager(service).get('/v1/me')).body;
  platform = manager(service).in(tenantId);
  callers = { platform } as typeof callers;
  for (const role of roles.filter((one) => one !== 'platform'))
    callers[role] = await platform.as(role);
  calls = operationCalls(service, callers.admin, tenantId);
  deviceKey = (await platform.tv(await calls.make.screen())).apiKey;
  const other = platform.in((await platform.tenant('Other')).id);
  foreigners = [await other.as('admin'), other];
  inside = (await platform.venue('Inside')).id;
  outside = (await platform.venue('Outside')).id;
  bound = {};
  for (const role of rankedRoles.filter((one) => one !== 'platform'))
    bound[role] = await boundTo(role, inside);
  const expiresAt = new Date(service.clock.now() + 1000).toISOString();
  expired = [];
  for (const role of ['viewer', 'admin', 'platform'])
    expired.push(await platform.newToken({ name: `Expired ${role}`, role, expiresAt }));
  service.clock.advance(1000);
});

afterAll(() => store.close());

/** Expects that `work` changes nothing in the store. */
async function expectNoChange(work: () => Promise<void>): Promise<void> {
  const before = service.changes.length;
  await work();
  expect(service.changes.slice(before)).toEqual([]);
}

/** Returns a function that sends an operation with this body to a record. */
function request({ method, path }: Operation, body: unknown) {
  return (send: Manager['send'], id: string): Promise<Answer> =>
    send(method, path.replace(/:(id|name|code|claim)/, id), body === undefined ? {} : { body });
}

/** Returns a function that sends an operation with an invalid body, if it has one. */
const invalidRequest = (operation: Operation) =>
  request(operation, operation.body && { nonsense: [] });

/** An answer without what differs between two requests. */
const bare = ({ status, headers, text, body }: Answer) => ({
  status,
  headers: [...headers.keys()].filter((name) => name !== 'date').toSorted(),
  text: text.replaceAll(body.requestId, ''),
});

function expectSuccess(answer: Answer, operation: Operation): void {
  // There is neither an on-demand source nor an object store, nor a key of statements.
  const isOff = operation.path === '/v1/statements' && operation.method === 'POST';
  if (isOff || /refresh|mirror/.test(operation.path)) expectProblem(answer, 'not_supported');
  // The record was just created, so nothing is published or stored for it.
  else if (/upload$/.test(operation.path)) expectProblem(answer, 'media_not_found');
  else if (answer.status === 404)
    expect(answer.body.code).toMatch(/^(playlist|config|schedule|takeover|statement)_not_found$/);
  else if (!(answer.status in (operation.otherAnswers ?? {})))
    expect(answer.status, answer.text).toBe(operation.status);
}

describe.each(table)('%s', (_, operation) => {
  it('401 without a valid token, before anything else is checked, and changes nothing', async () => {
    const ids = [await calls.makeFor(operation), 'x'];
    const perform = invalidRequest(operation);
    const credentials: [ServiceErrorCode, string | undefined][] = [
      ['credential_missing', undefined],
      ['credential_invalid', deviceKey],
      ...expired.map(({ token }): [ServiceErrorCode, string] => ['credential_expired', token]),
    ];
    await expectNoChange(async () => {
      for (const [code, key] of credentials)
        for (const id of ids) {
          const answer = await perform(
            (method, path, sent) => service.send(method, path, key ? { ...sent, key } : sent),
            id,
          );
          expectProblem(answer, code);
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="signage"/);
        }
    });
  });

  it('403 for every lower role, whatever the record, and changes nothing', async () => {
    const ids = [await calls.makeFor(operation), 'x'];
    const perform = request(operation, await calls.bodyOf(operation, { venueId: inside }));
    await expectNoChange(async () => {
      for (const role of rolesBelow(operation))
        for (const caller of [callers[role], bound[role]])
          for (const id of caller ? ids : []) {
            const answer = await perform(caller!.send, id);
            expectProblem(answer, 'insufficient_role');
            expect(answer.headers.has('www-authenticate')).toBe(false);
          }
    });
  });

  it('is allowed for each of its roles', async () => {
    for (const role of rolesFrom(operation)) {
      const id =
        operation.path === '/v1/tenants/:id'
          ? (await platform.tenant(crypto.randomUUID())).id
          : await calls.makeFor(operation);
      expectSuccess(await calls.perform(callers[role].send, operation, id), operation);
    }
  });
});

it('a token that has expired was never used', async () => {
  for (const { id } of expired)
    expect((await platform.get(`/v1/tokens/${id}`)).body.lastUsedAt).toBeNull();
});

describe.each(withRecord)('%s', (_, operation) => {
  it('404 for a record of another tenant or venue, as for an unknown one, and changes nothing', async () => {
    const isOfTenant = operation.record === 'tenant';
    const id = await calls.makeFor(operation, isOfTenant ? undefined : outside);
    const unknown = operation.record === 'pairing_code' ? 'ZZZZZZZZ' : unknownId;
    const perform = request(operation, await calls.bodyOf(operation, { venueId: inside }));
    const [lowest] = rolesFrom(operation) as [Role];
    // A platform token sees every tenant.
    const others = isOfTenant ? foreigners.slice(0, 1) : foreigners;
    await expectNoChange(async () => {
      for (const { send } of [...others, bound[lowest]!, bound.admin!]) {
        const absent = await perform(send, unknown);
        expect(absent.body.code).toBe(`${operation.record}_not_found`);
        for (const answer of [
          await perform(send, id),
          await perform(send, 'no-such-thing'),
          await invalidRequest(operation)(send, id),
        ])
          expect(bare(answer)).toEqual(bare(absent));
      }
    });
  });
});

/** A tenant is more than its venues, and media and campaigns belong to no venue. */
const ofVenues = withRecord.filter(
  ([, { record }]) => !['tenant', 'media', 'campaign'].includes(record as string),
);

describe.each(ofVenues)('%s', (_, operation) => {
  it('is allowed for a token that is bound to the venue of the record', async () => {
    const [lowest] = rolesFrom(operation) as [Role];
    for (const role of new Set<Role>([lowest, 'admin'])) {
      // A venue must be empty to be deleted.
      const { id: venueId } = await platform.venue(crypto.randomUUID());
      const { send } = await boundTo(role, venueId);
      const id = await calls.makeFor(operation, venueId);
      expectSuccess(await calls.perform(send, operation, id, venueId), operation);
    }
  });
});
