import { beforeEach, describe, expect, it } from 'vitest';
import { playlistContent } from '../../../src/domain/playlists/playlist-content.ts';
import { AnswerCache } from '../../../src/origin/on-demand/source.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const none = { content: null };
const big = () => ({ content: playlistContent(['x'.repeat(1024 * 1024)], null) });

describe('the cache of on-demand answers', () => {
  let clock: ManualClock;
  let cache: AnswerCache;
  beforeEach(() => {
    clock = new ManualClock();
    cache = new AnswerCache(clock, 10_000);
  });

  it('returns an answer, "none" too, until its TTL ends', () => {
    cache.set('a', none);
    clock.advance(9999);
    expect(cache.get('a')).toBe(none);
    clock.advance(1);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.get('b')).toBeUndefined();
  });

  it('restarts the TTL with each answer', () => {
    cache.set('a', none);
    clock.advance(9000);
    const later = { content: null };
    cache.set('a', later);
    clock.advance(9000);
    expect(cache.get('a')).toBe(later);
  });

  it('caches nothing with a TTL of 0 s', () => {
    cache = new AnswerCache(clock, 0);
    cache.set('a', none);
    expect(cache.get('a')).toBeUndefined();
  });

  it('expires entries when the clock is set back', () => {
    cache.set('a', none);
    clock.set(clock.now() - 3_600_000);
    expect(cache.get('a')).toBeUndefined();
  });

  it('evicts the oldest entries beyond the memory limit, and not the latest', () => {
    for (let n = 0; n < 200; n++) cache.set(String(n), big());
    expect(cache.get('0')).toBeUndefined();
    expect(cache.get('199')).toBeDefined();
    const held = Array.from({ length: 200 }, (_, n) => cache.get(String(n))).filter(
      (answer) => answer !== undefined,
    );
    expect(held.length).toBeGreaterThan(100);
    expect(held.length).toBeLessThanOrEqual(128);
  });
});
