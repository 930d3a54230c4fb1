import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { manager } from '../../support/service/management.ts';
import { expectProblem } from '../../support/service/problem.ts';
import { type Answer, startService, type TestService } from '../../support/service/service.ts';

// The limits themselves: test/service/pairing/claim-limits.test.ts. Floods: test/faults/guessing.
const minute = 60_000;
const venue = '203.0.113.7';
let service: TestService;

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const claim = (address = venue) =>
  service.send('POST', '/devices/claims', { body: { deviceInfo: {} }, ...from(address) });
const status = ({ body }: Answer, query = '') =>
  service.send('GET', `/devices/claims/${body.claim}${query}`, { key: body.token });
const start = async (store = 'memory:') => {
  service = await startService({ store, trustProxy: ['127.0.0.1'] });
};
const statuses = (answers: readonly Answer[], code: number) =>
  answers.filter((answer) => answer.status === code).length;

describe('POST /devices/claims at an address with five waiting claims', () => {
  let first: Answer;
  beforeEach(async () => {
    await start();
    first = await claim();
    service.clock.advance(minute / 2);
    for (let n = 0; n < 4; n++) expect((await claim()).status).toBe(201);
  });

  it('429 while the oldest is younger than a minute, and changes nothing', async () => {
    const refused = await claim();
    expectProblem(refused, 429, 'too_many_attempts');
    expect(refused.headers.get('retry-after')).toBe('30');
    expect((await status(first)).status).toBe(200);
    expect((await claim('203.0.113.8')).status).toBe(201);
  });

  it('201 after a minute, and the TV with the oldest learns at once that it has ended', async () => {
    const held = status(first, '?waitSeconds=50');
    service.clock.advance(minute / 2);
    expect((await claim()).status).toBe(201);
    expectProblem(await held, 404, 'claim_not_found');
    expectProblem(await claim(), 429, 'too_many_attempts');
  });

  it('201 beside a claim with an offer, which does not give way', async () => {
    const { id: screenId } = await service.screen();
    const path = `/v1/devices/claims/${first.body.claim}/offer`;
    await service.manage('POST', path, { screenId });
    service.clock.advance(minute);
    expect((await claim()).status).toBe(201);
    expect((await claim()).status).toBe(201);
    expect((await status(first)).body.status).toBe('offered');
  });
});

describe.each([
  ['files', temporaryFolder],
  ['PostgreSQL', freshDatabase],
])('POST /devices/claims on %s', (_, newStore) => {
  it('201 for 50 of 70 claims at once at a trusted address', async () => {
    await start(await newStore());
    await service.manage('GET', '/v1/me', undefined, from(venue));
    const answers = await Promise.all(Array.from({ length: 70 }, () => claim()));
    expect([statuses(answers, 201), statuses(answers, 429)]).toEqual([50, 20]);
  });

  it('201 for 50 of 70 claims at once of trusted addresses in an IPv6 /48', async () => {
    await start(await newStore());
    const { id } = await manager(service).tenant('Strangers');
    const stranger = await manager(service).in(id).as('viewer');
    const addresses = Array.from({ length: 70 }, (__, n) => `2001:db8:1:${n}::1`);
    for (const address of addresses) await stranger.send('GET', '/v1/me', from(address));
    const answers = await Promise.all(addresses.map(claim));
    expect([statuses(answers, 201), statuses(answers, 429)]).toEqual([50, 20]);
    expect((await claim(venue)).status).toBe(201);
  });
});
