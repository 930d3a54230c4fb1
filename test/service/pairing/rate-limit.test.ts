import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sourceOf } from '../../../src/service/pairing/guess-source.ts';
import {
  makeTrustedSources,
  type TrustedSources,
} from '../../../src/service/pairing/trusted-sources.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { expectProblem } from '../../support/problem.ts';
import { type Answer, type Sent, startService, type TestService } from '../../support/service.ts';
import { snapshot } from '../../support/snapshot.ts';

const minute = 60_000;
const hour = 60 * minute;
/** Codes that are never generated, because their characters are not in the alphabet. */
let guesses = 0;
const wrong = () => `0000${String(guesses++ % 10_000).padStart(4, '0')}`;
const there = '203.0.113.7';

let service: TestService;
beforeEach(async () => {
  service = await startService({ trustProxy: ['127.0.0.1'] });
});
afterEach(() => service.close());

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

describe('POST /devices/register from a source that guesses codes', () => {
  it('404 for ten unknown codes, 429 too_many_attempts for the eleventh', async () => {
    await guessTimes(10);
    expectLockedOut(await guess(), 60);
  });

  it('404 for exactly ten of many concurrent requests', async () => {
    const statuses = (await Promise.all(Array.from({ length: 50 }, () => guess()))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 404)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  it('429 for a correct code too, which is not used up', async () => {
    const { code, screenId } = await service.code();
    await guessTimes(10);
    expectLockedOut(await guess());
    const before = await snapshot(service);
    expectLockedOut(await service.register(code, from(there)));
    expect(await snapshot(service)).toEqual(before);
    expect((await service.manage('GET', `/v1/screens/${screenId}`)).body).toMatchObject({
      state: 'provisioning',
      deviceId: null,
    });
    expect((await service.register(code, from('203.0.113.8'))).status).toBe(201);
  });

  it('429 for used, expired and cancelled codes too', async () => {
    const tv = await service.tv();
    await guessTimes(10);
    expectLockedOut(await service.register(tv.code, from(there)));
  });

  it('400, not 429, for an invalid request, which does not count', async () => {
    for (let n = 0; n < 12; n++)
      expectProblem(await service.register('abc', from(there)), 400, 'invalid_request');
    await guessTimes(10);
    expectProblem(await service.register('abc', from(there)), 400, 'invalid_request');
  });

  it('does not count existing codes, however often they are sent', async () => {
    const tv = await service.tv();
    const cancelled = await service.code();
    await service.manage('DELETE', `/v1/devices/provisioning-codes/${cancelled.code}`);
    const expired = await service.code();
    service.clock.advance(15 * minute);
    for (let n = 0; n < 8; n++) {
      expectProblem(await service.register(tv.code, from(there)), 409, 'pairing_code_used');
      expectProblem(
        await service.register(cancelled.code, from(there)),
        410,
        'pairing_code_cancelled',
      );
      expectProblem(await service.register(expired.code, from(there)), 410, 'pairing_code_expired');
    }
    await guessTimes(10);
  });

  it('successes do not count, and do not reset the counter', async () => {
    await guessTimes(5);
    for (let n = 0; n < 3; n++)
      expect(
        (await service.register((await service.code()).code, from('203.0.113.99'))).status,
      ).toBe(201);
    await guessTimes(5);
    expectLockedOut(await guess());
  });

  it('has a sliding window: each guess counts for 15 minutes', async () => {
    for (let n = 0; n < 10; n++) {
      await guessTimes(1);
      service.clock.advance(minute);
    }
    // The first guess is 10 minutes old, the last one a minute.
    expectLockedOut(await guess());
    service.clock.advance(5 * minute - 1);
    expectLockedOut(await guess());
    service.clock.advance(1);
    await guessTimes(1);
    expectLockedOut(await guess());
    service.clock.advance(minute);
    await guessTimes(1);
    expectLockedOut(await guess());
  });

  it('refused guesses do not count: the source is free again 15 minutes after its last counted one', async () => {
    const { code } = await service.code();
    await guessTimes(10);
    service.clock.advance(14 * minute);
    for (let n = 0; n < 20; n++) expectLockedOut(await guess());
    service.clock.advance(minute - 1);
    expectLockedOut(await service.register(code, from(there)));
    service.clock.advance(1);
    expectProblem(await service.register(code, from(there)), 410, 'pairing_code_expired');
    expect((await service.register((await service.code()).code, from(there))).status).toBe(201);
  });

  describe('Retry-After', () => {
    it('doubles after each announced wait: 60, 120, 240, 480', async () => {
      await guessTimes(10);
      for (const seconds of [60, 120, 240, 480]) {
        expectLockedOut(await guess(), seconds);
        service.clock.advance(seconds * 1000);
      }
      await guessTimes(1);
    });

    it('is the rest of the wait, rounded up, and early requests do not extend it', async () => {
      await guessTimes(10);
      expectLockedOut(await guess(), 60);
      service.clock.advance(20_500);
      for (let n = 0; n < 5; n++) expectLockedOut(await guess(), 40);
      service.clock.advance(39_499);
      expectLockedOut(await guess(), 1);
      service.clock.advance(1);
      expectLockedOut(await guess(), 120);
    });

    it('grows up to 900 for a source that never stops', async () => {
      const seen: number[] = [];
      for (let rounds = 0; rounds < 400 && seen.length < 8; rounds++) {
        const answer = await guess();
        if (answer.status === 429) {
          seen.push(Number(answer.headers.get('retry-after')));
          service.clock.advance(seen.at(-1)! * 1000);
        } else service.clock.advance(80_000);
      }
      // After 900 seconds the window is empty, so the wait starts again at the minimum.
      expect(seen).toEqual([60, 120, 240, 480, 900, 60, 120, 240]);
    });

    it('starts again at 60 after 15 quiet minutes', async () => {
      await guessTimes(10);
      expectLockedOut(await guess(), 60);
      service.clock.advance(60_000);
      expectLockedOut(await guess(), 120);
      service.clock.advance(15 * minute);
      await guessTimes(10);
      expectLockedOut(await guess(), 60);
    });
  });

  it('refuses no other request of the source', async () => {
    const tv = await service.tv();
    await service.manage('PUT', `/v1/screens/${tv.screenId}/config`, {});
    await guessTimes(10);
    expectLockedOut(await guess());
    expectProblem(await tv.send('GET', 'playlist', from(there)), 404, 'playlist_not_found');
    expect((await tv.send('GET', 'config', from(there))).status).toBe(200);
    expect(
      (await tv.send('POST', 'events', { ...from(there), body: [{ type: 'x', timestamp: 1 }] }))
        .status,
    ).toBe(202);
    const { code } = await service.code();
    expect(
      (
        await service.manage(
          'GET',
          `/v1/devices/provisioning-codes/${code}/status`,
          undefined,
          from(there),
        )
      ).status,
    ).toBe(200);
    expect((await service.send('GET', '/healthz', from(there))).status).toBe(200);
  });

  it('counts each lock-out once in the metrics', async () => {
    await guessTimes(10);
    for (let n = 0; n < 3; n++) expectLockedOut(await guess());
    const metrics = (await service.send('GET', '/metrics')).text;
    expect(metrics).toContain('signage_register_lockouts_total{scope="source"} 1');
    expect(metrics).toContain('signage_register_lockouts_total{scope="service"} 0');
    expect(metrics).toContain('signage_registrations_total{outcome="locked_out"} 3');
  });

  describe('one source of guesses is', () => {
    it.each([
      ['an IPv4 address', '203.0.113.7', '203.0.113.7'],
      ['an IPv4 address and its mapped form', '203.0.113.7', '::ffff:203.0.113.7'],
      ['the mapped form in hex', '::ffff:cb00:7107', '203.0.113.7'],
    ])('%s', async (_, one, other) => {
      await guessTimes(5, one);
      await guessTimes(5, other);
      expectLockedOut(await guess(one));
      expectLockedOut(await guess(other));
    });

    it.each([
      ['IPv4 addresses of one network', '203.0.113.7', '203.0.113.8'],
      ['an IPv4 address and an IPv6 address that looks alike', '203.0.113.7', '203:0:113:7::'],
    ])('not two %s', async (_, one, other) => {
      await guessTimes(10, one);
      expectLockedOut(await guess(one));
      await guessTimes(1, other);
    });

    it.each([
      [
        6,
        'the /64',
        '2001:db8:1:2::1',
        '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff',
        '2001:db8:1:3::1',
      ],
      [8, 'the /56', '2001:db8:1:2::1', '2001:db8:1:ff::1', '2001:db8:1:100::1'],
      [10, 'the /48', '2001:db8:1:2::1', '2001:db8:1:ff00::1', '2001:db8:2::1'],
    ])(
      'is locked out for %i unknown codes %s of an IPv6 address, and its neighbour is not',
      async (most, _, one, other, neighbour) => {
        const { code } = await service.code();
        let counted = 0;
        for (let n = 0; n < 2 * most; n++)
          if ((await guess(n % 2 ? one : other)).status === 404) counted++;
        expect(counted).toBe(most);
        expectLockedOut(await service.register(code, from(one)));
        await guessTimes(1, neighbour);
        expect((await service.register(code, from(neighbour))).status).toBe(201);
      },
    );
  });

  it('thirteen /64s of one /60 lock out no other source, of known or unknown address', async () => {
    const { code } = await service.code();
    let counted = 0;
    for (let n = 0; n < 13; n++)
      for (let m = 0; m < 12; m++)
        if ((await guess(`2001:db8:1:12${n.toString(16)}::1`)).status === 404) counted++;
    expect(counted).toBe(8);
    expect((await service.register(code, from('198.51.100.1'))).status).toBe(201);
    expect(
      (await service.register((await service.code()).code, from('2001:db8:2:1::1'))).status,
    ).toBe(201);
    const ids = (
      await service.manage('GET', '/v1/audit?action=registration.locked_out')
    ).body.items.map(({ subject }: { subject: { id: string } }) => subject.id);
    expect(ids).toEqual(['2001:db8:1:100::/56', '2001:db8:1:120::/64']);
  });

  describe('with a trusted source', () => {
    /** A second tenant, which does not trust the source. */
    async function foreignCode(): Promise<string> {
      const own = (await service.manage('GET', '/v1/me')).body.tenantId;
      service.tenantId = (await service.manage('POST', '/v1/tenants', { name: 'Other' })).body.id;
      const { code } = await service.code();
      service.tenantId = own;
      return code;
    }

    it.each<[string, () => Promise<unknown>]>([
      ['a device key', async () => (await service.tv()).send('GET', 'config', from(there))],
      [
        'a management token',
        async () =>
          service.send('GET', '/v1/screens', {
            key: await service.token('viewer'),
            ...from(there),
          }),
      ],
      [
        'a platform token in the tenant',
        () => service.manage('GET', '/v1/screens', undefined, from(there)),
      ],
      ['a registration', async () => service.register((await service.code()).code, from(there))],
    ])('201 for codes of the tenant whose credential worked there: %s', async (_, work) => {
      await work();
      await guessTimes(10);
      expectLockedOut(await guess());
      for (let n = 0; n < 3; n++)
        expect((await service.register((await service.code()).code, from(there))).status).toBe(201);
    });

    it.each<[string, () => Promise<unknown>]>([
      [
        'a rejected key',
        async () => (await service.tv()).send('GET', 'config', { ...from(there), key: 'dak_x' }),
      ],
      [
        'a key for another screen',
        async () =>
          service.send('GET', '/devices/x/config', {
            ...from(there),
            key: (await service.tv()).apiKey,
          }),
      ],
      [
        'a rejected token',
        () => service.send('GET', '/v1/screens', { key: 'mak_nonsense', ...from(there) }),
      ],
    ])('429 after %s', async (_, work) => {
      await work();
      await guessTimes(10);
      expectLockedOut(await service.register((await service.code()).code, from(there)));
    });

    it('429 for unknown codes, and after 20 of them for the tenant’s codes too', async () => {
      const { code } = await service.code();
      await (await service.tv()).send('GET', 'config', from(there));
      await guessTimes(10);
      for (let n = 0; n < 19; n++) expectLockedOut(await guess());
      expect((await service.register(code, from(there))).status).toBe(201);
      expectLockedOut(await guess());
      const second = await service.code();
      expectLockedOut(await service.register(second.code, from(there)));
      expect(
        (await service.manage('GET', `/v1/devices/provisioning-codes/${second.code}/status`)).body
          .status,
      ).toBe('pending');
      // Guesses of a trusted source count for as long as others.
      service.clock.advance(15 * minute);
      expect((await service.register((await service.code()).code, from(there))).status).toBe(201);
    });

    it('429 for another tenant’s code, which is not used up, and counts like an unknown code', async () => {
      const foreign = await foreignCode();
      const own = await service.code();
      await (await service.tv()).send('GET', 'config', from(there));
      await guessTimes(10);
      for (let n = 0; n < 19; n++) expectLockedOut(await service.register(foreign, from(there)));
      expect((await service.register(own.code, from(there))).status).toBe(201);
      expectLockedOut(await service.register(foreign, from(there)));
      expectLockedOut(await service.register((await service.code()).code, from(there)));
      expect((await service.register(foreign, from('203.0.113.8'))).status).toBe(201);
    });

    it('201 for 200 TVs behind one address that mistype every tenth code', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 200; n++) {
        if (n % 10 === 9) await guess();
        statuses.push((await service.register((await service.code()).code, from(there))).status);
      }
      expect(statuses).toEqual(Array(200).fill(201));
    });

    it('trusts it for 24 hours', async () => {
      const tv = await service.tv();
      await tv.send('GET', 'config', from(there));
      service.clock.advance(24 * hour - 1);
      const { code } = await service.code();
      await guessTimes(10);
      expect((await service.register(code, from(there))).status).toBe(201);
    });

    it('429 from 24 hours on', async () => {
      const tv = await service.tv();
      await tv.send('GET', 'config', from(there));
      service.clock.advance(24 * hour);
      const { code } = await service.code();
      await guessTimes(10);
      expectLockedOut(await service.register(code, from(there)));
    });

    it('trusts the whole /64', async () => {
      await (await service.tv()).send('GET', 'config', from('2001:db8:1:2::1'));
      await guessTimes(6, '2001:db8:1:2::2');
      expectLockedOut(await guess('2001:db8:1:2::2'));
      expect(
        (await service.register((await service.code()).code, from('2001:db8:1:2::3'))).status,
      ).toBe(201);
    });
  });
});

describe('the trusted sources of one instance', () => {
  const many = 100_000;
  const address = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  const clock = new ManualClock();
  /** Trust from this instance alone. */
  const alone = () =>
    makeTrustedSources({ updateGuessCounters: async () => undefined as never }, clock);
  const of = (trust: TrustedSources, source: string) => trust.of(source, undefined, clock.now());

  it('are limited in number: the least recently used one is evicted', () => {
    const trust = alone();
    trust.remember('192.0.2.1', 'a');
    trust.remember('192.0.2.2', 'a');
    trust.remember('192.0.2.1', 'b');
    for (let n = 0; n < many - 1; n++) trust.remember(address(n), 'a');
    expect(of(trust, '192.0.2.1').toSorted()).toEqual(['a', 'b']);
    expect(of(trust, '192.0.2.2')).toEqual([]);
  });

  it('are separate per tenant, and never contain an unseen source', () => {
    const trust = alone();
    trust.remember('192.0.2.1', 'a');
    expect([of(trust, '192.0.2.1'), of(trust, '192.0.2.9')]).toEqual([['a'], []]);
  });

  it('treat all callers of unknown address as one source', () => {
    expect([null, 'nonsense', ''].map(sourceOf)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(sourceOf('fe80::1%eth0')).toBe(sourceOf('fe80::2%eth1'));
  });
});
