import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type Answer,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';

const _minute = 60_000;
const from = (address: string): Sent => ({ headers: { 'x-forwarded-for': address } });
const venue = '198.51.100.1';
/** Codes that are never generated, because they contain excluded characters. */
const wrong = (n: number) => `0000${String(n % 10_000).padStart(4, '0')}`;

let addresses = 0;
const fresh = () =>
  from(
    ++addresses % 2
      ? `10.${addresses >> 8}.0.${addresses & 255}`
      : `2001:db8:${addresses.toString(16)}::1`,
  );

/** Sends this many unknown codes, each from a new address. */
async function _attack(count: number, service: TestService): Promise<number[]> {
  const guesses = Array.from({ length: count }, (_, n) => service.register(wrong(n), fresh()));
  return (await Promise.all(guesses)).map(({ status }) => status);
}

const _lockOuts = async (service: TestService, sent: Sent = {}) =>
  (await service.manage('GET', '/v1/audit?action=registration.locked_out', undefined, sent)).body
    .items;

describe('RateLimit of POST /devices/register', () => {
  let service: TestService;
  const fields = ({ headers }: Answer) => [
    headers.get('ratelimit-policy'),
    headers.get('ratelimit'),
  ];
  beforeEach(async () => {
    service = await startService({ trustProxy: ['127.0.0.1'] });
  });

  it('counts unknown codes only, and tells when there are more', async () => {
    const policy = '"unknown-codes";q=10;w=900';
    const code = async () => (await service.code()).code;
    const first = await service.register(await code(), from(venue));
    expect([first.status, ...fields(first)]).toEqual([201, policy, '"unknown-codes";r=10']);
    const unknown = await service.register(wrong(1), from(venue));
    expect([unknown.status, ...fields(unknown)]).toEqual([
      404,
      policy,
      '"unknown-codes";r=9;t=900',
    ]);
    service.clock.advance(59_500);
    expect(fields(await service.register(wrong(2), from(venue)))[1]).toBe(
      '"unknown-codes";r=8;t=841',
    );
    const { code: used } = await service.tv();
    const again = await service.register(used, from(venue));
    expect([again.status, fields(again)[1]]).toEqual([409, '"unknown-codes";r=8;t=841']);
  });

  it('is 0 with the Retry-After on each 429, whether the code is right or wrong', async () => {
    for (let n = 0; n < 10; n++) await service.register(wrong(n), from(venue));
    const { code } = await service.code();
    for (const sent of [code, wrong(11)]) {
      const refused = await service.register(sent, from(venue));
      expectProblem(refused, 429, 'too_many_attempts');
      expect(refused.headers.get('retry-after')).toBe('60');
      expect(fields(refused)).toEqual(['"unknown-codes";q=10;w=900', '"unknown-codes";r=0;t=60']);
    }
  });

  it('is that of the IPv6 prefix with the fewest left', async () => {
    for (let n = 0; n < 5; n++) await service.register(wrong(n), from('2001:db8:1:200::1'));
    const neighbour = await service.register(wrong(6), from('2001:db8:1:201::1'));
    expect(fields(neighbour)).toEqual(['"unknown-codes";q=8;w=900', '"unknown-codes";r=2;t=900']);
  });

  it('is absent before the code is looked up', async () => {
    const invalid = await service.register('short', from(venue));
    expect([invalid.status, ...fields(invalid)]).toEqual([400, null, null]);
  });

  it('can be read by web apps of another origin', async () => {
    const open = await startService({ corsOrigins: ['https://tv.example.com'] });
    const { headers } = await open.register(wrong(1), {
      headers: { origin: 'https://tv.example.com' },
    });
    const exposed = headers.get('access-control-expose-headers')?.split(',');
    expect(exposed).toEqual(expect.arrayContaining(['RateLimit-Policy', 'RateLimit']));
  });
});
