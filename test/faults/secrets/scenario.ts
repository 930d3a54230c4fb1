import { impression, item } from '../../support/service/content.ts';
import {
  type Answer,
  adminToken,
  type BoundTv,
  type Sent,
  type TestService,
} from '../../support/service/service.ts';
import type { Sentinels } from './sentinels.ts';

export interface Scenario {
  /** All answers except those that deliver a secret to its owner. */
  answers: Answer[];
  metrics: string;
  audit: string;
}

const idempotencyKey = 'canary-idempotency-4f9d1c';
const lostKey = 'canary-idempotency-lost-77';
const rotationKey = 'canary-idempotency-rotation-5';
const creationKey = 'canary-idempotency-creation-6';
const loginKeys = {
  'a login that was read': 'canary-idempotency-login-17',
  'a login that was not read': 'canary-idempotency-login-28',
};
const claimKeys = {
  'a TV that was paired': 'canary-idempotency-claim-81',
  'a TV with an open offer': 'canary-idempotency-claim-92',
};

/** Creates a TV that rotates its key, and codes in each state. */
async function makeSecrets(
  service: TestService,
  sentinels: Sentinels,
  told: Told,
): Promise<{ key: string; pending: string; tv: BoundTv }> {
  const idempotency = { headers: { 'idempotency-key': idempotencyKey } };
  const { code, screenId } = await service.code();
  const unused = await service.code(screenId);
  sentinels.add('a pairing code that is used', code);
  const { body } = await service.register(code, idempotency);
  sentinels.add('the apiKey', body.apiKey);
  sentinels.add('the apiKey’s digits', body.apiKey.slice(4));
  sentinels.add('a pairing code that is cancelled', unused.code);
  const pending = await service.code();
  sentinels.add('a pairing code that is pending', pending.code);
  sentinels.add('an operator’s token', await service.token('operator'));
  const cancelled = await service.code();
  sentinels.add('a pairing code that was deleted', cancelled.code);
  await service.manage('DELETE', `/v1/devices/provisioning-codes/${cancelled.code}`);
  const plain = await service.tv();
  sentinels.add('an apiKey that was not derived', plain.apiKey);

  const rotation = { key: plain.apiKey, headers: { 'idempotency-key': rotationKey } };
  const rotated = await service.send('POST', `/devices/${plain.screenId}/keys/rotate`, rotation);
  sentinels.add('an apiKey that took the place of another', rotated.body.apiKey);
  await told(
    service.send('GET', `/devices/${plain.screenId}/config`, { key: rotated.body.apiKey }),
  );
  await told(service.send('POST', `/devices/${plain.screenId}/keys/rotate`, rotation));
  await service.register(code, idempotency);
  await told(service.register(unused.code, idempotency));
  await told(service.register(code));
  await told(service.register(code, { headers: { 'idempotency-key': `${idempotencyKey}-2` } }));
  return { key: body.apiKey, pending: pending.code, tv: { ...body, code } };
}

/** Creates a token and a code with an `Idempotency-Key`, also when they are no longer given. */
async function createDerived(
  service: TestService,
  sentinels: Sentinels,
  told: Told,
): Promise<void> {
  const create = (path: string, body: object) =>
    service.manage('POST', path, body, { headers: { 'idempotency-key': creationKey } });
  const wanted = { name: 'Derived', role: 'viewer' };
  const { token } = (await create('/v1/tokens', wanted)).body;
  sentinels.add('a derived token', token);
  await told(service.send('GET', '/v1/venues', { key: token }));
  await told(create('/v1/tokens', wanted));
  await told(create('/v1/tokens', { ...wanted, role: 'operator' }));
  const codes = '/v1/devices/provisioning-codes';
  const body = { screenId: (await service.screen()).id };
  const { code } = (await create(codes, body)).body;
  sentinels.add('a derived pairing code', code);
  await service.manage('DELETE', `${codes}/${code}`);
  await told(create(codes, body));
}

/** Offers screens to two TVs that show claims. Only the first one registers. */
async function offerClaims(service: TestService, sentinels: Sentinels, told: Told): Promise<void> {
  for (const registers of [true, false]) {
    const name = registers ? 'a TV that was paired' : 'a TV with an open offer';
    const made = await service.send('POST', '/devices/claims', {
      body: { deviceInfo: { model: 'Claims' } },
      headers: { 'idempotency-key': sentinels.add(`the claim key of ${name}`, claimKeys[name]) },
    });
    const { claim, token } = made.body;
    sentinels.add(`the claim token of ${name}`, token);
    await told(service.manage('GET', `/v1/devices/claims/${claim}`));
    const screenId = (await service.screen()).id;
    await service.manage('POST', `/v1/devices/claims/${claim}/offer`, { screenId });
    const { body } = await service.send('GET', `/devices/claims/${claim}`, { key: token });
    sentinels.add(`the offered code of ${name}`, body.pairingCode);
    if (registers)
      sentinels.add(
        `the apiKey of ${name}`,
        (await service.register(body.pairingCode)).body.apiKey,
      );
    await told(service.manage('GET', `/v1/screens/${screenId}`));
    await told(service.send('GET', `/devices/claims/${claim}`, { key: `${token}x` }));
    await told(service.manage('POST', `/v1/devices/claims/${claim}/offer`, { screenId }));
  }
}

/** Uses a link, and waits with a shared ticket. */
async function useTickets(service: TestService, sentinels: Sentinels, told: Told): Promise<void> {
  const { id: screenId, venueId } = await service.screen();
  for (const body of [{ screenId }, { venueId, uses: 3 }]) {
    const name = 'uses' in body ? 'a shared ticket' : 'a link';
    const { id, ticket } = (await service.manage('POST', '/v1/tickets', body)).body;
    sentinels.add(name, ticket);
    const ask = () => service.send('POST', '/devices/claims', { body: { deviceInfo: {}, ticket } });
    const { claim, token } = (await ask()).body;
    sentinels.add(`the claim token of ${name}`, token);
    const { pairingCode } = (await service.send('GET', `/devices/claims/${claim}`, { key: token }))
      .body;
    if (pairingCode) {
      sentinels.add(`the code of ${name}`, pairingCode);
      sentinels.add(`the apiKey of ${name}`, (await service.register(pairingCode)).body.apiKey);
    }
    await told(service.manage('GET', '/v1/devices/claims'));
    await told(service.manage('GET', '/v1/notices'));
    await told(service.manage('DELETE', `/v1/tickets/${id}`));
    await told(ask());
    await told(service.send('GET', `/v1/tickets/${ticket}`));
  }
  await told(service.manage('GET', '/v1/tickets'));
}

/** Approves a login request whose asker reads its token, and one whose asker does not. */
async function approveLogins(
  service: TestService,
  sentinels: Sentinels,
  told: Told,
): Promise<void> {
  for (const reads of [true, false]) {
    const name = reads ? 'a login that was read' : 'a login that was not read';
    const made = await service.send('POST', '/v1/logins', {
      body: { user: 'alice', host: 'front-desk' },
      headers: { 'idempotency-key': sentinels.add(`the key of ${name}`, loginKeys[name]) },
    });
    const { code, secret } = made.body;
    sentinels.add(`the secret of ${name}`, secret);
    await told(service.manage('GET', `/v1/logins/${code}`));
    const approval = { name, role: 'viewer', expiresAt: '2100-01-01', allVenues: true };
    for (let time = 0; time < 2; time++)
      await told(service.manage('POST', `/v1/logins/${code}/approve`, approval));
    await told(service.send('GET', `/v1/logins/${code}/status`, { key: `${secret}x` }));
    if (!reads) continue;
    const { body } = await service.send('GET', `/v1/logins/${code}/status`, { key: secret });
    sentinels.add(`the token of ${name}`, body.grant.token);
    await told(service.send('GET', '/v1/me', { key: body.grant.token }));
  }
}

type Told = (answer: Promise<Answer>) => Promise<Answer>;

async function play(
  service: TestService,
  { screenId }: BoundTv,
  key: string,
  told: Told,
): Promise<void> {
  await service.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] });
  await service.manage('PUT', `/v1/screens/${screenId}/config`, { syncIntervalMinutes: 7 });
  await told(service.send('GET', `/devices/${screenId}/playlist`, { key }));
  await told(service.send('GET', `/devices/${screenId}/config`, { key }));
  const batch = { key, body: [impression()], headers: { 'idempotency-key': lostKey } };
  for (let time = 0; time < 2; time++)
    await told(service.send('POST', `/devices/${screenId}/events`, batch));
}

/** Puts one secret into every place of a request. */
async function misplace(
  service: TestService,
  secret: string,
  tv: { screenId: string; key: string; pending: string },
  told: Told,
) {
  const { screenId, key, pending } = tv;
  const owned = { key: secret };
  const managed = { key: adminToken };
  const requests: [method: string, path: string, sent?: Sent][] = [
    ['GET', `/devices/${secret}/playlist`, { key }],
    ['GET', `/devices/${screenId}/playlist`, { key: `${secret}x` }],
    ['GET', `/v1/screens/${secret}`, owned],
    ['GET', `/${secret}`, owned],
    ['GET', `/v1/screens?search=${secret}&nonsense=${secret}`, owned],
    ['PATCH', `/devices/${secret}/playlist`],
    ['GET', `/devices/claims/${secret}`, owned],
    ['GET', `/v1/devices/claims/${secret}`, managed],
    ['GET', `/v1/devices/provisioning-codes/${secret}/x`, managed],
    ['PUT', `/v1/devices/provisioning-codes/${secret}/status`, managed],
    ['GET', `/v1/screens/${secret}`, managed],
    ['POST', `/v1/devices/${secret}/revoke`, managed],
    ['POST', '/devices/register', { body: { pairingCode: secret.toLowerCase(), deviceInfo: {} } }],
    ['POST', '/devices/register', { body: `{"pairingCode":"${secret}" "apiKey"` }],
    [
      'POST',
      '/devices/register',
      { body: { pairingCode: pending, deviceInfo: 7, apiKey: secret } },
    ],
    ['POST', '/devices/register', { body: secret, headers: { 'content-type': secret } }],
    ['POST', `/devices/${screenId}/events`, { key, body: `["${secret}` }],
    ['POST', '/devices/register', { body: {}, headers: { 'idempotency-key': secret } }],
    [
      'GET',
      '/v1/screens',
      { headers: { authorization: `Basic ${secret}`, 'x-tenant-id': secret } },
    ],
    ['GET', '/v1/screens', { ...managed, headers: { 'x-tenant-id': secret } }],
    ['GET', '/metrics', { ...owned, headers: { 'x-forwarded-for': '203.0.113.7' } }],
  ];
  // Names and request ids are masked by form.
  if (/^(?:(?:dak|mak|clm|tkt|lgn)_|[A-Z2-9]{8}$)/.test(secret)) {
    const headers = { 'x-request-id': secret };
    requests.push(
      ['GET', `/v1/screens?${secret}=1`, managed],
      ['GET', '/v1/screens', { ...managed, headers }],
      ['POST', '/devices/register', { body: { deviceInfo: {} }, headers }],
      ['GET', `/devices/${screenId}/config`, { key, headers }],
      ['POST', '/v1/venues', { ...managed, body: { name: 'x', [secret]: 1 }, headers }],
    );
  }
  for (const request of requests) await told(service.send(...request));
}

/** Calls every operation, including errors, with secrets in all or some places of the requests. */
export async function runScenario(
  service: TestService,
  sentinels: Sentinels,
  misplaced = Number.POSITIVE_INFINITY,
): Promise<Scenario> {
  const answers: Answer[] = [];
  const told: Told = async (answer) => {
    answers.push(await answer);
    return answer;
  };
  const first = { 'the admin token': adminToken, 'the Idempotency-Key': idempotencyKey };
  const lost = {
    'a lost Idempotency-Key': lostKey,
    'the Idempotency-Key of a rotation': rotationKey,
    'the Idempotency-Key of creations': creationKey,
  };
  for (const [name, secret] of Object.entries({ ...first, ...lost })) sentinels.add(name, secret);
  const { key, pending, tv } = await makeSecrets(service, sentinels, told);
  await createDerived(service, sentinels, told);
  await offerClaims(service, sentinels, told);
  await useTickets(service, sentinels, told);
  await approveLogins(service, sentinels, told);
  await play(service, tv, key, told);
  const inPaths = sentinels.secrets.filter((one) => /^[\w-]+$/.test(one)).slice(0, misplaced);
  for (const secret of inPaths)
    await misplace(service, secret, { screenId: tv.screenId, key, pending }, told);
  for (let n = 0; n < 12; n++) await told(service.register(`0000000${n % 10}`));
  // A source trusted through a token may still use the codes of its tenant.
  sentinels.add('an apiKey that was given last', (await service.register(pending)).body.apiKey);
  await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`, { reason: 'done' });
  await told(service.send('GET', `/devices/${tv.screenId}/playlist`, { key }));
  const metrics = (await service.send('GET', '/metrics')).text;
  const audit = (await service.manage('GET', '/v1/audit?limit=200')).text;
  return { answers, metrics, audit };
}
