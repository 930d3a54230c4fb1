import { describe, expect, it } from 'vitest';
import type { Claim } from '../../../src/domain/records/rows.ts';
import { networkOf, sourceOf } from '../../../src/service/guesses/guess-source.ts';
import { applicantAt, claimLimits, makeRoom } from '../../../src/service/pairing/claim-limits.ts';
import { claimRow } from '../../../src/testing/store-suite/sample-rows.ts';

const minute = 60_000;
const nowMs = 1_800_000_000_000;
const secret = new Uint8Array(32);
let made = 0;

interface Made {
  share?: string;
  ageMs?: number;
}

/** Returns a waiting claim of each address. */
const claimsAt = (addresses: readonly (string | null)[], { share, ageMs = 0 }: Made = {}) =>
  addresses.map((address) =>
    claimRow(++made, {
      address,
      network: networkOf(sourceOf(address)),
      share: share ?? null,
      createdAt: nowMs - ageMs,
    }),
  );
const repeated = (address: string | null, count: number) =>
  Array.from({ length: count }, () => address);
/** Returns `count` addresses of as many networks. */
const networks = (count: number, first = 1) =>
  Array.from({ length: count }, (_, n) => `198.51.${first}.${n}`);
const slash64s = (count: number) => Array.from({ length: count }, (_, n) => `2001:db8:1:${n}::1`);
const room = (waiting: readonly Claim[], address: string | null, trusting: string[] = []) =>
  makeRoom(waiting, applicantAt(address, trusting, secret), claimLimits, nowMs);
const tooMany = expect.objectContaining({ code: 'too_many_attempts' });
const tv = '203.0.113.7';
const slash48 = '2001:db8:1:ffff::1';
const untrusted = claimsAt(networks(100));
/** Returns claims that three shares have equally, the shop among them. */
const evenly = (count: number) =>
  networks(count, 2).flatMap((address, n) =>
    claimsAt([address], { share: ['shop', 'one', 'other'][n % 3] as string }),
  );

type Fill = (count: number) => Claim[];
type Row = [name: string, limit: number, fill: Fill, address: string | null, trusting: string[]];

describe('the limit of waiting claims', () => {
  it.each<Row>([
    ['an address that nobody trusts', 5, (n) => claimsAt(repeated(tv, n)), tv, []],
    ['a trusted address', 50, (n) => claimsAt(repeated(tv, n)), tv, ['shop']],
    ['callers without an address', 50, (n) => claimsAt(repeated(null, n)), null, []],
    ['an IPv6 /48 that nobody trusts', 20, (n) => claimsAt(slash64s(n)), slash48, []],
    ['an IPv6 /48 with a trusted /64', 50, (n) => claimsAt(slash64s(n)), slash48, ['shop']],
    ['all untrusted addresses of a shard', 100, (n) => claimsAt(networks(n)), tv, []],
    ['a tenant in a shard', 80, (n) => claimsAt(networks(n), { share: 'shop' }), tv, ['shop']],
    ['a shard', 200, (n) => evenly(n), tv, ['shop']],
  ])('of %s', (_, limit, fill, address, trusting) => {
    expect(room(fill(limit - 1), address, trusting).displaced).toEqual([]);
    expect(() => room(fill(limit), address, trusting)).toThrow(tooMany);
  });

  it('leaves a reserve for trusted addresses, whatever others and one tenant do', () => {
    const waiting = [...untrusted, ...claimsAt(networks(80, 2), { share: 'stranger' })];
    expect(room(waiting, tv, ['shop'])).toEqual({ displaced: [], share: 'shop' });
  });

  it('counts for the trusting tenant with the fewest claims', () => {
    const waiting = claimsAt(networks(80), { share: 'stranger' });
    expect(room(waiting, tv, ['stranger', 'shop']).share).toBe('shop');
    expect(room(waiting, tv).share).toBeNull();
  });
});

describe('the claim that gives way', () => {
  const old = claimsAt([tv], { ageMs: minute })[0] as Claim;

  it('is the oldest of the address, once it is a minute old', () => {
    const young = claimsAt(repeated(tv, 4), { ageMs: minute - 1 });
    expect(room([...young, old], tv).displaced).toEqual([old]);
    expect(() => room([...young, ...claimsAt([tv], { ageMs: 20_000 })], tv)).toThrow(
      expect.objectContaining({ retryAfterSeconds: 1 }),
    );
  });

  it('is of the network with the most claims, at once', () => {
    const heavy = claimsAt(['198.51.9.9', '198.51.9.9']);
    const waiting = [...claimsAt(networks(98)), ...heavy];
    expect(room(waiting, tv).displaced).toEqual([heavy[0]]);
  });

  it('is at least a minute old if its network would have fewer than the new one', () => {
    const heavy = claimsAt(repeated('198.51.9.9', 2), { share: 'shop' });
    const own = claimsAt([tv], { share: 'shop' });
    const waiting = [...claimsAt(networks(77), { share: 'shop' }), ...heavy, ...own];
    expect(() => room(waiting, tv, ['shop'])).toThrow(tooMany);
    const [first] = heavy.map((claim) => ({ ...claim, createdAt: nowMs - minute }));
    expect(
      room([first as Claim, ...waiting.filter((one) => one !== heavy[0])], tv, ['shop']),
    ).toEqual({ displaced: [first], share: 'shop' });
  });

  it('is of the share with the most claims if the shard is full', () => {
    const shop = claimsAt(repeated('198.51.9.9', 30), { share: 'shop', ageMs: minute });
    const stranger = claimsAt(networks(70, 2), { share: 'stranger', ageMs: minute });
    const { displaced } = room([...shop, ...stranger, ...untrusted], tv, ['shop']);
    expect(displaced).toEqual([untrusted[0]]);
  });

  it('is of the own network if no other has more', () => {
    const waiting = [...claimsAt(networks(99), { ageMs: 2 * minute }), old];
    expect(room(waiting, tv).displaced).toEqual([old]);
  });

  it('is of the share that is full, not of another', () => {
    const heavy = claimsAt(repeated('198.51.9.9', 50), { share: 'shop', ageMs: minute });
    const waiting = [...heavy, ...claimsAt(networks(100), { ageMs: minute })];
    expect(room(waiting, tv).displaced[0]?.share).toBeNull();
  });
});

describe('the shard of a claim', () => {
  const shardOf = (address: string, key = secret) => applicantAt(address, [], key).shard;

  it('is the same for a whole network, and depends on the secret', () => {
    expect(shardOf('2001:db8:1:2::3')).toBe(shardOf(slash48));
    const others = Array.from({ length: 20 }, (_, n) => shardOf(tv, new Uint8Array(32).fill(n)));
    expect(new Set(others).size).toBeGreaterThan(5);
  });

  it('is one of 50', () => {
    const all = [1, 2, 3, 4].flatMap((third) => networks(250, third)).map((one) => shardOf(one));
    expect(new Set(all).size).toBe(50);
  });
});
