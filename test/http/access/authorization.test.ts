// Every management operation, by every kind of caller.
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { mayAct, type RequiredRole, type Role, roles } from '../../../src/domain/records/role.ts';
import { type Operation, type OperationId, operations } from '../../../src/wire/operations.ts';
import { expectProblem, type Manager, manager, unknownId } from '../../support/management.ts';
import { operationCalls } from '../../support/operation-calls.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

type Management = [OperationId, Operation & { access: RequiredRole }];

const table = Object.entries<Operation>(operations).filter(([, { path }]) =>
  path.startsWith('/v1/'),
) as Management[];
/** A claim belongs to no tenant. */
const withRecord = table.filter(([, { record }]) => record && record !== 'claim');

let service: TestService;
let platform: Manager;
/** Callers in the tenant `home`, by role. */
let callers: Record<Role, Manager>;
/** An admin of another tenant. */
let foreigner: Manager;
let deviceKey: string;
let home: string;
let calls: ReturnType<typeof operationCalls>;
let count = 0;

const without = ({ body }: Answer) => ({ ...body, requestId: undefined });

beforeAll(async () => {
  service = await startService({ objectStore: pathToFileURL(await temporaryFolder()).href });
  platform = manager(service);
  home = (await platform.get('/v1/me')).body.tenantId;
  const inside = platform.in(home);
  callers = { platform: inside } as typeof callers;
  for (const role of roles.filter((one) => one !== 'platform'))
    callers[role] = await inside.as(role);
  calls = operationCalls(service, callers.admin, home);
  deviceKey = (await service.tv()).apiKey;
  const other = await platform.tenant('Other');
  foreigner = await platform.in(other.id).as('admin');
});

describe.each(table)('%s', (_, operation) => {
  const anonymous = (headers: Record<string, string>) =>
    calls.perform(
      (method, path, sent) => service.send(method, path, { ...sent, headers }),
      operation,
      unknownId,
    );

  it('401 credential_missing without a credential', async () => {
    const answer = await anonymous({});
    expectProblem(answer, 'credential_missing');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="signage"/);
  });

  it('401 credential_invalid for anything but a token, such as a device key', async () => {
    const unknown = 'mak_0000000000000000000000000000000000000000000000000';
    for (const value of [
      `Bearer ${unknown}`,
      'Bearer mak_',
      `Basic ${callers.platform.token}`,
      'Bearer',
      `Bearer ${deviceKey}`,
    ]) {
      const answer = await anonymous({ Authorization: value });
      expectProblem(answer, 'credential_invalid');
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="signage"/);
    }
  });

  it.each(roles.filter((role) => !mayAct(role, operation.access)))(
    '403 insufficient_role for a %s, whatever the record',
    async (role) => {
      for (const id of [await calls.makeFor(operation), unknownId, 'x']) {
        const answer = await calls.perform(callers[role].send, operation, id);
        expectProblem(answer, 'insufficient_role');
        expect(answer.headers.has('www-authenticate')).toBe(false);
      }
    },
  );

  it.each(
    roles.filter((role) => mayAct(role, operation.access) && operation.path !== '/v1/tenants/:id'),
  )('is allowed for a %s', async (role) => {
    const id = await calls.makeFor(operation);
    const answer = await calls.perform(callers[role].send, operation, id);
    // Without an on-demand source.
    if (operation.path.endsWith('/refresh')) return expectProblem(answer, 'not_supported');
    // The record was just created, so nothing is published or stored for it.
    if (answer.status === 404)
      return expect(answer.body.code).toMatch(/^(playlist|config)_not_found$/);
    expect(answer.status, answer.text).toBe(operation.status);
  });
});

describe.each(withRecord)('%s of another tenant', (_, operation) => {
  it('404 byte for byte as for an unknown one, and changes nothing', async () => {
    if (operation.access === 'platform')
      return expectProblem(
        await calls.perform(foreigner.send, operation, home),
        'insufficient_role',
      );
    const id = await calls.makeFor(operation);
    const unknown = operation.record === 'pairing_code' ? 'ZZZZZZZZ' : unknownId;
    const before = (await callers.platform.get('/v1/audit?limit=1')).body.items[0].id;
    const [foreign, absent, malformed] = [
      await calls.perform(foreigner.send, operation, id),
      await calls.perform(foreigner.send, operation, unknown),
      await calls.perform(foreigner.send, operation, 'no-such-thing'),
    ];
    expect(foreign!.status).toBe(404);
    expect(foreign!.body.code).toBe(`${operation.record}_not_found`);
    expect(foreign!.text.replace(foreign!.body.requestId, '')).toBe(
      absent!.text.replace(absent!.body.requestId, ''),
    );
    expect(without(malformed!)).toEqual(without(absent!));
    const names = (answer: Answer) =>
      [...answer.headers.keys()].filter((name) => name !== 'date').toSorted();
    expect(names(foreign!)).toEqual(names(absent!));
    expect((await callers.platform.get('/v1/audit?limit=1')).body.items[0].id).toBe(before);
  });

  it('404 before the body and the query are validated', async () => {
    if (operation.access === 'platform') return;
    const sent = operation.body ? { body: { nonsense: [] } } : {};
    const answer = await foreigner.send(
      operation.method,
      `${operation.path.replace(/:(id|code|claim)/, await calls.makeFor(operation))}`,
      sent,
    );
    expect(answer.status).toBe(404);
  });
});

describe('lists', () => {
  it.each(['venues', 'screens', 'devices', 'events', 'tokens'])(
    'GET /v1/%s returns nothing of another tenant',
    async (noun) => {
      await calls.make.device();
      const mine = (await callers.admin.get(`/v1/${noun}?limit=200`)).body.items.map(
        ({ id }: { id: string }) => id,
      );
      const theirs = (await foreigner.get(`/v1/${noun}?limit=200`)).body.items.map(
        ({ id }: { id: string }) => id,
      );
      expect(theirs.filter((id: string) => mine.includes(id))).toEqual([]);
      if (noun !== 'events') expect(mine.length).toBeGreaterThan(0);
    },
  );

  it('return nothing for filters that name another tenant’s record', async () => {
    const screen = (await callers.admin.get('/v1/screens?limit=1')).body.items[0];
    for (const query of [
      `screens?venueId=${screen.venueId}`,
      `devices?screenId=${screen.id}`,
      `events?screenId=${screen.id}`,
    ]) {
      expect((await foreigner.get(`/v1/${query}`)).body).toEqual({ items: [], nextCursor: null });
    }
  });

  it('return nothing of another tenant for a cursor of its list', async () => {
    const cursor = (await callers.admin.get('/v1/venues?limit=1')).body.nextCursor;
    expect((await foreigner.get(`/v1/venues?cursor=${cursor}`)).body).toEqual({
      items: [],
      nextCursor: null,
    });
  });
});

describe('platform operations', () => {
  it.each(table.filter(([, { path }]) => path === '/v1/tenants/:id'))(
    '%s is allowed for a platform token, in any tenant',
    async (_, operation) => {
      const { id } = await platform.tenant(`Tenant ${++count}`);
      const answer = await calls.perform(callers.platform.send, operation, id);
      expect(answer.status, answer.text).toBe(operation.status);
    },
  );

  it.each(withRecord.filter(([, { access }]) => access !== 'platform'))(
    '%s of another tenant is 404 from inside this one',
    async (_, operation) => {
      if (operation.record === 'tenant') return;
      const elsewhere = platform.in((await foreigner.get('/v1/me')).body.tenantId);
      expect(
        (await calls.perform(elsewhere.send, operation, await calls.makeFor(operation))).status,
      ).toBe(404);
    },
  );
});
