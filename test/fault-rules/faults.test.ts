import { describe, expect, it } from 'vitest';
import { faultAnswer } from '../../src/faults/fault-answer.ts';
import { Faults, fractionsOf, type StatusEffect } from '../../src/faults/faults.ts';
import { isRequestFault, parseFault, parseServiceFault } from '../../src/faults/parse-fault.ts';
import type { TvOperation } from '../../src/faults/tv-call.ts';
import { tvOperationAt } from '../../src/faults/tv-call.ts';
import { SeededRandom } from '../../src/simulator/seeded-random.ts';

function faultsOf(...rules: string[]) {
  const random = new SeededRandom('faults');
  return new Faults(rules.map(parseFault).filter(isRequestFault), () => random.fraction());
}

/** Returns the numbers of the requests that a rule hits, from 1. */
function hits(rule: string, count: number): number[] {
  const faults = faultsOf(rule);
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return numbers.filter(() => faults.take('events', undefined));
}

describe('the fractions of a random source', () => {
  it('are from 0 to below 1, and depend on all random bytes', () => {
    const of = (...bytes: number[]) => fractionsOf(() => Uint8Array.of(...bytes))();
    expect(of(0, 0, 0, 0)).toBe(0);
    expect(of(0, 0, 0, 1)).toBe(1 / 2 ** 32);
    expect(of(128, 0, 0, 0)).toBe(0.5);
    expect(of(255, 255, 255, 255)).toBeLessThan(1);
    // A buffer of Node may be a part of a larger one.
    expect(fractionsOf(() => Buffer.from([0, 0, 0, 1]))()).toBe(1 / 2 ** 32);
  });
});

describe('fault rules', () => {
  it.each([
    ['lost-answer', [1, 2, 3, 4, 5, 6]],
    ['lost-answer:events', [1, 2, 3, 4, 5, 6]],
    ['lost-answer:playlist', []],
    ['lost-answer:every 3', [3, 6]],
    ['lost-answer:first 2', [1, 2]],
  ])('%s hits the requests %j of a batch of six', (rule, hit) => {
    expect(hits(rule, 6)).toEqual(hit);
  });

  it('a share hits the same requests with the same seed', () => {
    const some = hits('lost-answer:25%', 400);
    expect(some.length).toBeGreaterThan(70);
    expect(some.length).toBeLessThan(130);
    expect(hits('lost-answer:25%', 400)).toEqual(some);
  });

  it('the first rule that hits takes the request, and later rules do not count it', () => {
    const faults = faultsOf('500:first 1', 'lost-answer:events:first 1', 'duplicate:every 2');
    const kinds = [1, 2, 3, 4].map(() => faults.take('events', undefined)?.effect?.kind);
    expect(kinds).toEqual(['status', 'lost-answer', undefined, 'duplicate']);
  });

  it('delays add up, also with another effect', () => {
    const faults = faultsOf('slow:1s', 'lost-answer', 'slow:2s-3s', 'slow:config:1h');
    const injected = faults.take('events', undefined);
    expect(injected).toMatchObject({
      ids: ['slow:1s', 'lost-answer', 'slow:2s-3s'],
      effect: { kind: 'lost-answer', id: 'lost-answer' },
    });
    expect(injected?.delayMs).toBeGreaterThanOrEqual(3000);
    expect(injected?.delayMs).toBeLessThanOrEqual(4000);
  });

  it('a rule with a condition counts only the requests that meet it, until it is removed', () => {
    const faults = new Faults<number>([], () => 0);
    const added = faults.add(parseServiceFault('lost-answer:first 2'), {
      id: 'even',
      accepts: (request) => request % 2 === 0,
    });
    const ids = [1, 2, 3].map((request) => faults.take('events', request)?.ids);
    expect(ids).toEqual([undefined, ['even'], undefined]);
    expect(added.count).toBe(1);
    faults.remove(added);
    expect(faults.take('events', 4)).toBeUndefined();
  });
});

describe('the answer of a rule with a status', () => {
  const answerOf = (rule: string, operation: TvOperation | undefined) =>
    faultAnswer(faultsOf(rule).take(undefined, undefined)?.effect as StatusEffect, operation, 'id');

  it.each<[string, TvOperation, string, string | undefined]>([
    ['500', 'getPlaylist', 'playlist_fetch_failed', '5'],
    ['500', 'getDeviceConfig', 'config_fetch_failed', '5'],
    ['500', 'postEvents', 'internal_error', undefined],
    ['500 internal_error', 'getPlaylist', 'internal_error', undefined],
    ['503 retry 30s', 'postEvents', 'unavailable', '30'],
    ['429', 'registerDevice', 'too_many_attempts', '60'],
    ['401', 'getPlaylist', 'device_key_invalid', undefined],
    ['401 device_key_orphaned', 'getPlaylist', 'device_key_orphaned', undefined],
    ['404', 'getPlaylist', 'playlist_not_found', undefined],
    ['404 not_found', 'getDeviceChanges', 'not_found', undefined],
    ['400', 'postEvents', 'invalid_request', undefined],
  ])('%s at %s has the code %s', (rule, operation, code, retryAfter) => {
    const answer = answerOf(rule, operation);
    expect(answer.headers['retry-after']).toBe(retryAfter);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(answer.text)).toMatchObject({ code, status: answer.status, requestId: 'id' });
  });

  it.each<[string, TvOperation | undefined]>([
    ['502', 'getPlaylist'],
    ['404', 'getDeviceChanges'],
    ['401 uncoded', 'getPlaylist'],
    ['500', undefined],
  ])('%s at %s is a page, as from a proxy', (rule, operation) => {
    expect(answerOf(rule, operation)).toMatchObject({
      code: undefined,
      headers: { 'content-type': 'text/html' },
      text: expect.stringMatching(/^<html>/),
    });
  });
});

it.each([
  ['POST', '/devices/register', 'registerDevice'],
  ['GET', '/devices/claims/x', 'getClaimStatus'],
  ['GET', '/devices/x/playlist', 'getPlaylist'],
  ['HEAD', '/devices/x/playlist', 'getPlaylist'],
  ['OPTIONS', '/devices/x/playlist', undefined],
  ['POST', '/devices/x/keys/rotate', 'rotateDeviceKey'],
  ['GET', '/v1/devices/x/config', undefined],
])('%s %s is the operation %s', (method, path, operation) => {
  expect(tvOperationAt(method, path)).toBe(operation);
});
