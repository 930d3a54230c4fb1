import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type Answer,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { snapshot } from '../../support/service/snapshot.ts';

const minute = 60_000;
const hour = 60 * minute;
/** Codes that are never generated, because their characters are not in the alphabet. */
let guesses = 0;
const wrong = () => `0000${String(guesses++ % 10_000).padStart(4, '0')}`;
const there = '203.0.113.7';

let service: TestService;
beforeAll(async () => {
  service = await startService({ trustProxy: ['127.0.0.1'] });
});
afterAll(() => service.close());
// No guess counts longer than 15 minutes, and no source stays trusted longer than a day.
beforeEach(() => service.clock.advance(25 * hour));

const from = (address: string): Sent => ({ headers: { 'x-forwarded-for': address } });
const guess = (address = there) => service.register(wrong(), from(address));
async function guessTimes(count: number, address = there): Promise<void> {
  for (let n = 0; n < count; n++)
    expectProblem(await guess(address), 404, 'pairing_code_not_found');
}
const expectLockedOut = (answer: Answer, seconds?: number) => {
  expectProblem(answer, 429, 'too_many_attempts');
  if (seconds !== undefined) expect(answer.headers.get('retry-after')).toBe(String(seconds));
};

const list = (key: string) => service.send('GET', '/v1/screens', { key, ...from(there) });

describe('POST /devices/register from a source that guesses codes', () => {
  it('429 too_many_attempts after ten unknown codes, with the rest of the wait in Retry-After', async () => {
    await guessTimes(10);
    expectLockedOut(await guess(), 60);
    service.clock.advance(20_500);
    expectLockedOut(await guess(), 40);
    service.clock.advance(39_499);
    expectLockedOut(await guess(), 1);
  });

  it('404 for exactly ten of many concurrent requests', async () => {
    const statuses = (await Promise.all(Array.from({ length: 50 }, () => guess()))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 404)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  it('429 for used and correct codes too, and the correct code is not used up', async () => {
    const tv = await service.tv();
    const { code, screenId } = await service.code();
    await guessTimes(10);
    expectLockedOut(await guess());
    const before = await snapshot(service);
    expectLockedOut(await service.register(tv.code, from(there)));
    expectLockedOut(await service.register(code, from(there)));
    expect(await snapshot(service)).toEqual(before);
    expect((await service.manage('GET', `/v1/screens/${screenId}`)).body).toMatchObject({
      state: 'provisioning',
      deviceId: null,
    });
    expect((await service.register(code, from('203.0.113.8'))).status).toBe(201);
  });

  it('400, not 429, for an invalid request, which does not count', async () => {
    for (let n = 0; n < 12; n++)
      expectProblem(await service.register('abc', from(there)), 400, 'invalid_request');
    await guessTimes(10);
    expectProblem(await service.register('abc', from(there)), 400, 'invalid_request');
  });

  it('counts each lock-out once in the metrics', async () => {
    const counted = async () => {
      const { text } = await service.send('GET', '/metrics');
      return [
        'signage_register_lockouts_total{scope="source"}',
        'signage_register_lockouts_total{scope="service"}',
        'signage_registrations_total{outcome="locked_out"}',
      ].map((name) => Number(text.split(`${name} `)[1]?.split('\n')[0]));
    };
    const before = await counted();
    await guessTimes(10);
    for (let n = 0; n < 3; n++) expectLockedOut(await guess());
    const after = await counted();
    expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 0, 3]);
  });

  it.each<[number, string, () => Promise<unknown>]>([
    [201, 'a device key', async () => (await service.tv()).send('GET', 'config', from(there))],
    [201, 'a management token', async () => list(await service.token('viewer'))],
    [
      201,
      'a platform token in the tenant',
      () => service.manage('GET', '/v1/screens', undefined, from(there)),
    ],
    [201, 'a registration', async () => service.register((await service.code()).code, from(there))],
    [
      429,
      'a rejected key',
      async () => (await service.tv()).send('GET', 'config', { ...from(there), key: 'dak_x' }),
    ],
    [
      429,
      'a key for another screen',
      async () =>
        service.send('GET', '/devices/x/config', {
          ...from(there),
          key: (await service.tv()).apiKey,
        }),
    ],
    [429, 'a rejected token', async () => list('mak_nonsense')],
  ])('%i for a code of the tenant from where there was %s', async (status, _, work) => {
    await work();
    await guessTimes(10);
    expectLockedOut(await guess());
    const answer = await service.register((await service.code()).code, from(there));
    if (status === 429) expectLockedOut(answer);
    else expect(answer.status).toBe(status);
  });
});
