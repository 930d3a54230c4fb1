// Two instances on one PostgreSQL database: what a caller does at one of them holds at the other.
import { beforeAll, expect, it } from 'vitest';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { expectProblem, type Manager, manager } from '../../support/service/management.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let one: TestService;
let other: TestService;
let admin: Manager;
/** The same caller at the other instance. */
let onOther: Manager;

beforeAll(async () => {
  const store = await freshDatabase();
  one = await startService({ store });
  other = await startService({ store });
  admin = await manager(one).as('admin');
  onOther = manager(other, admin.token);
});

const newToken = (role = 'viewer') => admin.newToken({ name: crypto.randomUUID(), role });
const rotate = (id: string, caller = admin) => caller.post(`/v1/tokens/${id}/rotate`);
const use = async (token: string, service = one) =>
  (await manager(service, token).get('/v1/me')).status;
const create = (path: string, key: string, body: unknown, caller = admin) =>
  caller.send('POST', path, { headers: { 'Idempotency-Key': key }, body });
/** Alternates between the instances. */
const eight = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => () => (n % 2 === 0 ? admin : onOther));

it('a secret that was first used on one instance ends the old one on the other', async () => {
  const { id, token } = await newToken();
  const { body } = await rotate(id);
  expect([await use(token), await use(token, other)]).toEqual([200, 200]);
  expect(await use(body.token, other)).toBe(200);
  expect([await use(token), await use(token, other)]).toEqual([401, 401]);
  expect(await use(body.token)).toBe(200);
});

it('of eight concurrent rotations on both instances, one new secret remains', async () => {
  const { id, token } = await newToken();
  const answers = await Promise.all(eight.map((caller) => rotate(id, caller())));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const statuses = [];
  for (const { body } of answers) statuses.push(await use(body.token, other));
  expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(401)]);
  expect(await use(token)).toBe(401);
});

it('of eight concurrent creations with one Idempotency-Key on both instances, one creates the code', async () => {
  const { id: venueId } = await admin.venue('Hall');
  const body = { screenId: (await admin.screen(venueId, 'TV')).id };
  const key = crypto.randomUUID();
  const answers = await Promise.all(
    eight.map((caller) => create('/v1/devices/provisioning-codes', key, body, caller())),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
  expect(new Set(answers.map(({ body: made }) => made.code))).toHaveLength(1);
});

it('409 not_repeatable for a token that was used on the other instance', async () => {
  const key = crypto.randomUUID();
  const body = { name: crypto.randomUUID(), role: 'viewer' };
  const { token } = (await create('/v1/tokens', key, body)).body;
  expect(await use(token, other)).toBe(200);
  expectProblem(await create('/v1/tokens', key, body), 'not_repeatable');
});

it('an approval on one instance ends the wait on the other within a second', async () => {
  const body = { user: 'alice', host: 'front-desk' };
  const { code, secret } = (await one.send('POST', '/v1/logins', { body })).body;
  const held = one.send('GET', `/v1/logins/${code}/status?waitSeconds=50`, { key: secret });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const approval = { name: 'Alice', role: 'viewer', expiresAt: '2100-01-01', allVenues: true };
  expect((await onOther.post(`/v1/logins/${code}/approve`, approval)).status).toBe(201);
  const approvedMs = performance.now();
  expect((await held).body.status).toBe('approved');
  expect(performance.now() - approvedMs).toBeLessThan(1000);
});
