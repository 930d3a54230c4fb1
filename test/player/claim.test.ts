import { describe, expect, it } from 'vitest';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { secondMs, systemClock, systemRandom } from '../../src/domain/clock.ts';
import type { SignageError } from '../../src/domain/error.ts';
import {
  type ClaimKeyMemory,
  type ClaimOptions,
  waitForOfferedCode,
} from '../../src/player/pairing/claim.ts';
import { makeVirtualClock } from '../../src/simulator/tv/virtual-clock.ts';
import {
  hangUp,
  json,
  problem,
  type StubService,
  stubService,
} from '../support/network/stub-service.ts';

const made = (claim: string) => json(201, { claim, token: `clm_${claim}`, expiresInSeconds: 600 });
const waiting = json(200, {
  status: 'waiting',
  pairingCode: null,
  expiresInSeconds: 500,
  offer: null,
});
const offered = (pairingCode: string, confirm = false) =>
  json(200, {
    status: 'offered',
    pairingCode,
    expiresInSeconds: 500,
    offer: {
      tenant: 'Acme',
      tenantId: crypto.randomUUID(),
      venue: 'Lobby',
      screen: 'Main',
      confirm,
    },
  });
const gone = problem(404, 'claim_not_found', 'There is no such claim.');

/** Waits for a code at a service with these answers. Time runs 1,000 times faster. */
function wait(stub: StubService, more: Partial<ClaimOptions> = {}) {
  const claims: string[] = [];
  const failures: string[] = [];
  const clock = makeVirtualClock({ speed: 1000, startMs: 0, wall: systemClock });
  const code = waitForOfferedCode({
    client: new RuntimeClient({ url: stub.url, timeoutMs: 2000 }),
    deviceInfo: { model: 'TV' },
    clock,
    random: systemRandom,
    onClaim: (claim) => void claims.push(claim),
    onFailure: (error: SignageError) => void failures.push(error.code),
    accept: async () => true,
    signal: new AbortController().signal,
    ...more,
  });
  return { code, claims, failures, clock };
}

const keysOf = (stub: StubService) =>
  stub.heard
    .filter(({ method }) => method === 'POST')
    .map(({ headers }) => headers['idempotency-key']);

describe('a TV that shows a claim', () => {
  it('asks with the secret of the claim until a code is offered', async () => {
    const stub = await stubService(made('AAAAAA'), waiting, waiting, offered('CODE2345'));
    const { code, claims, clock } = wait(stub);
    expect(await code).toBe('CODE2345');
    expect(claims).toEqual(['AAAAAA']);
    expect(stub.heard.map(({ url }) => url)).toEqual([
      '/devices/claims',
      ...Array(3).fill('/devices/claims/AAAAAA?waitSeconds=50'),
    ]);
    expect(stub.heard.at(-1)?.headers.authorization).toBe('Bearer clm_AAAAAA');
    // An answer that was not held is followed by a pause of 5 seconds.
    expect(clock.now()).toBeGreaterThanOrEqual(10 * secondMs);
  });

  it('makes a new claim under a new key when one has ended, and after a refusal', async () => {
    const answers = [made('AAAAAA'), gone, made('BBBBBB'), offered('CODE2345', true)];
    const stub = await stubService(...answers, made('CCCCCC'), offered('CODE6789', true));
    const { code, claims } = wait(stub, {
      accept: async ({ confirm, venue }) => confirm && venue === 'Lobby' && claims.length === 3,
    });
    expect(await code).toBe('CODE6789');
    expect(claims).toEqual(['AAAAAA', 'BBBBBB', 'CCCCCC']);
    expect(new Set(keysOf(stub)).size).toBe(3);
  });

  it('repeats the key that its memory has, and forgets it when the claim ends', async () => {
    const stub = await stubService(made('AAAAAA'), offered('CODE2345'));
    let key: string | undefined = 'k'.repeat(32);
    const keyMemory: ClaimKeyMemory = {
      load: () => key,
      save(next) {
        key = next;
      },
    };
    await wait(stub, { keyMemory }).code;
    expect(keysOf(stub)).toEqual(['k'.repeat(32)]);
    expect(key).toBeUndefined();
  });

  it('repeats requests under the same key after lost answers, 429 and 503', async () => {
    const busy = problem(429, 'too_many_attempts', 'Busy.', {}, { 'retry-after': '30' });
    const down = problem(503, 'unavailable', 'Down.');
    const answers = [hangUp, busy, down, made('AAAAAA'), hangUp, offered('CODE2345')];
    const stub = await stubService(...answers);
    const { code, failures, clock } = wait(stub);
    expect(await code).toBe('CODE2345');
    expect(failures).toEqual(['unreachable', 'too_many_attempts', 'unavailable', 'unreachable']);
    expect(keysOf(stub)).toHaveLength(4);
    expect(new Set(keysOf(stub)).size).toBe(1);
    expect(clock.now()).toBeGreaterThanOrEqual(30 * secondMs);
  });

  it.each([
    ['not_supported', problem(404, 'not_found', 'No such path.')],
    ['not_supported', json(405, {})],
    ['invalid_request', problem(400, 'invalid_request', 'The body is wrong.')],
  ])('rejects with %s at once', async (expected, answer) => {
    const stub = await stubService(answer);
    const { code, failures } = wait(stub);
    await expect(code).rejects.toMatchObject({ code: expected });
    expect(stub.heard).toHaveLength(1);
    expect(failures).toEqual([]);
  });

  it('rejects with an error of its own, and of onFailure', async () => {
    const stub = await stubService(made('AAAAAA'), offered('CODE2345', true));
    const accept = () => Promise.reject(new TypeError('no screen'));
    await expect(wait(stub, { accept }).code).rejects.toThrow('no screen');
    const unreachable = await stubService(hangUp);
    const onFailure = (error: SignageError) => {
      throw error;
    };
    const { code } = wait(unreachable, { onFailure });
    await expect(code).rejects.toMatchObject({ code: 'unreachable' });
    expect(unreachable.heard).toHaveLength(1);
  });

  it('rejects with interrupted when its signal is aborted', async () => {
    const stub = await stubService(made('AAAAAA'), waiting);
    const power = new AbortController();
    const { code } = wait(stub, { signal: power.signal, onClaim: () => power.abort() });
    await expect(code).rejects.toMatchObject({ code: 'interrupted' });
  });
});
