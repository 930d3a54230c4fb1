import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type Answer,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { snapshot } from '../../support/service/snapshot.ts';

const minute = 60_000;
const codes = '/v1/devices/provisioning-codes';
let service: TestService;
beforeAll(async () => {
  service = await startService();
});

const create = (screenId: string) => service.manage('POST', codes, { screenId });
const status = (code: string, query = '') =>
  service.manage('GET', `${codes}/${code}/status${query}`);
const statusOf = async (code: string) => (await status(code)).body.status;
const cancel = (code: string) => service.manage('DELETE', `${codes}/${code}`);
/** With a request id of its own, the code is the first use of the random source in a request. */
const withRequestId = { headers: { 'x-request-id': 'given' } };
const isoNow = () => new Date(service.clock.now()).toISOString();
/** Creates several codes of one screen, one second apart. */
async function several(count: number, of = service, apartMs = 1000) {
  const { id } = await of.screen();
  const made: string[] = [];
  for (let n = 0; n < count; n++) {
    made.push((await of.code(id)).code);
    of.clock.advance(apartMs);
  }
  return { screenId: id as string, codes: made };
}

describe('POST /v1/devices/provisioning-codes', () => {
  describe('when the random source repeats a code', () => {
    const first = 'AAAAAAAA';
    /** A service with this code. `script` sets the next codes that its random source returns. */
    async function withScript() {
      const scripted: Uint8Array[] = [];
      const alone = await startService({
        random: (length) => (length === 8 && scripted.shift()) || randomBytes(length),
      });
      const [one, two] = [await alone.screen(), await alone.screen()];
      const script = (...indexes: number[]) =>
        void scripted.push(...indexes.map((index) => new Uint8Array(8).fill(index)));
      const make = (screenId: string) => alone.manage('POST', codes, { screenId }, withRequestId);
      script(0);
      expect((await make(one.id)).body.code).toBe(first);
      return { alone, one, script, make: () => make(two.id) };
    }

    it('201 with another code, and the stored one is unchanged', async () => {
      const { alone, one, script, make } = await withScript();
      await alone.manage('DELETE', `${codes}/${first}`);
      script(0, 0, 1);
      expect((await make()).body.code).toBe('BBBBBBBB');
      expect((await alone.manage('GET', `${codes}/${first}/status`)).body).toMatchObject({
        status: 'cancelled',
        screenId: one.id,
      });
    });

    it('500 internal_error when it keeps repeating it, and nothing is stored', async () => {
      const { alone, script, make } = await withScript();
      const before = await snapshot(alone);
      script(...Array<number>(8).fill(0));
      expectProblem(await make(), 500, 'internal_error');
      expect(await snapshot(alone)).toEqual(before);
    });
  });

  it('lives no longer when created in the same millisecond as another', async () => {
    const { id } = await service.screen();
    const made = [await service.code(id), await service.code(id), await service.code(id)];
    const expiresAt = new Date(service.clock.now() + 15 * minute).toISOString();
    for (const one of made) expect(one).toMatchObject({ expiresAt, expiresInSeconds: 900 });
  });

  it('the oldest is the one created first, even within one millisecond', async () => {
    const { screenId, codes: made } = await several(6, service, 0);
    expect(await Promise.all(made.map(statusOf))).toEqual([
      'cancelled',
      ...Array(5).fill('pending'),
    ]);
    await cancel(made[5]!);
    expect(
      (await service.manage('GET', `/v1/screens/${screenId}`)).body.provisioningCode.status,
    ).toBe('cancelled');
  });

  it('finished codes do not count among the five', async () => {
    const { screenId, codes: made } = await several(5);
    await cancel(made[4]!);
    expect((await create(screenId)).status).toBe(201);
    expect(await statusOf(made[0]!)).toBe('pending');
  });

  it('the codes of other screens do not count', async () => {
    const { codes: made } = await several(5);
    await several(5);
    expect(await Promise.all(made.map(statusOf))).toEqual(Array(5).fill('pending'));
  });

  it('using one cancels the others, except finished ones', async () => {
    const { codes: made } = await several(3);
    await cancel(made[0]!);
    service.clock.advance(1000);
    const cancelledAt = (await status(made[0]!)).text;
    expect((await service.register(made[1]!)).status).toBe(201);
    expect(await Promise.all(made.map(statusOf))).toEqual(['cancelled', 'used', 'cancelled']);
    expect((await status(made[0]!)).text).toBe(cancelledAt);
  });

  it('409 screen_already_bound for an active screen says how to free it, and no code is created', async () => {
    const tv = await service.tv();
    const before = await snapshot(service);
    const answer = await create(tv.screenId);
    expectProblem(answer, 409, 'screen_already_bound');
    expect(answer.body.detail).toContain(`/v1/devices/${tv.deviceId}/revoke`);
    expect(await snapshot(service)).toEqual(before);
  });
});

describe('GET /v1/devices/provisioning-codes/:code/status', () => {
  it('200 pending, with the remaining seconds rounded up', async () => {
    const { code, screenId, expiresAt } = await service.code();
    const createdAt = isoNow();
    service.clock.advance(60_001);
    const answer = await status(code);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      code,
      screenId,
      simulated: false,
      status: 'pending',
      createdAt,
      expiresAt,
      expiresInSeconds: 840,
      usedAt: null,
      deviceId: null,
    });
    service.clock.advance(14 * minute - 2);
    expect((await status(code)).body).toMatchObject({ status: 'pending', expiresInSeconds: 1 });
    service.clock.advance(2);
    expect((await status(code)).body).toMatchObject({ status: 'expired', expiresInSeconds: 0 });
  });

  it('200 used, by whom and when, or cancelled, even past its expiry', async () => {
    const [{ code }, { code: other }] = [await service.code(), await service.code()];
    service.clock.advance(1000);
    const usedAt = isoNow();
    const { deviceId } = (await service.register(code)).body;
    await cancel(other);
    for (const later of [0, 20 * minute]) {
      service.clock.advance(later);
      const [used, cancelled] = [(await status(code)).body, (await status(other)).body];
      expect(used).toMatchObject({ status: 'used', usedAt, deviceId, expiresInSeconds: 0 });
      expect(cancelled).toMatchObject({ status: 'cancelled', usedAt: null, deviceId: null });
      expect(cancelled.expiresInSeconds).toBe(0);
    }
    await service.manage('POST', `/v1/devices/${deviceId}/revoke`);
    expect((await status(code)).body).toMatchObject({ status: 'used', deviceId });
  });
});

it.each([
  ...['ABCDEFGH', 'abcd2345', 'ABC', 'ABCDEFGHJ', 'ABCD-234', '%00', 'status'],
  'a code in lower case',
])('404 pairing_code_not_found for status and cancellation of %s', async (text) => {
  const { code } = await service.code();
  const path = text === 'a code in lower case' ? code.toLowerCase() : text;
  expectProblem(await status(path), 404, 'pairing_code_not_found');
  expectProblem(await cancel(path), 404, 'pairing_code_not_found');
});

describe('GET /v1/devices/provisioning-codes/:code/status?waitSeconds=', () => {
  interface Hold {
    seconds?: number;
    heldMs?: number;
    sent?: Sent;
  }

  /** Requests the status, and resolves when the response has been held for at most `heldMs`. */
  async function held(
    of: TestService,
    code: string,
    { seconds = 30, heldMs = seconds * 1000, sent = {} }: Hold = {},
  ) {
    const waiting = of.clock.waitingFor(heldMs);
    let answer: Answer | undefined;
    const path = `${codes}/${code}/status?waitSeconds=${seconds}`;
    const asking = of.manage('GET', path, undefined, sent).then((come) => {
      answer = come;
      return come;
    });
    await expect.poll(() => of.clock.waitingFor(heldMs), { interval: 2 }).toBe(waiting + 1);
    expect(answer).toBeUndefined();
    return {
      asking,
      stillHeld: () => answer === undefined,
      over: () => of.clock.waitingFor(heldMs) === waiting,
    };
  }

  it('200 at once when the code is finished', async () => {
    const tv = await service.tv();
    expect((await status(tv.code, '?waitSeconds=30')).body).toMatchObject({
      status: 'used',
      deviceId: tv.deviceId,
    });
  });

  it.each<[string, (code: string, screenId: string) => Promise<unknown>]>([
    ['it is deleted', (code) => cancel(code)],
    ['another code of the screen is used', async (_, screenId) => service.tv(screenId)],
    ['the screen is deleted', (_, screenId) => service.manage('DELETE', `/v1/screens/${screenId}`)],
  ])('200 cancelled as soon as %s', async (_, end) => {
    const { code, screenId } = await service.code();
    const { asking } = await held(service, code);
    await end(code, screenId);
    expect((await asking).body).toMatchObject({ status: 'cancelled' });
  });

  it('200 expired as soon as it expires', async () => {
    const { code } = await service.code();
    service.clock.advance(15 * minute - 10_000);
    const { asking, stillHeld } = await held(service, code, { heldMs: 10_000 });
    service.clock.advance(9999);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(stillHeld()).toBe(true);
    service.clock.advance(1);
    expect((await asking).body).toMatchObject({ status: 'expired', expiresInSeconds: 0 });
  });

  it('200 pending at the end of the wait', async () => {
    const { code } = await service.code();
    const { asking, stillHeld } = await held(service, code, { seconds: 5 });
    service.clock.advance(4999);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(stillHeld()).toBe(true);
    service.clock.advance(1);
    expect((await asking).body).toMatchObject({ status: 'pending', expiresInSeconds: 895 });
  });

  it('is not woken by changes of other codes', async () => {
    const { code } = await service.code();
    const { asking, stillHeld } = await held(service, code, { seconds: 5 });
    await service.tv();
    expect(stillHeld()).toBe(true);
    service.clock.advance(5000);
    await asking;
  });

  it('ends when the client disconnects', async () => {
    const { code } = await service.code();
    const gone = new AbortController();
    const { asking, over } = await held(service, code, { sent: { signal: gone.signal } });
    gone.abort();
    await expect(asking).rejects.toThrow();
    await expect.poll(over).toBe(true);
    expect(await statusOf(code)).toBe('pending');
  });

  it('200 pending at once when the service closes, without delaying it', async () => {
    const alone = await startService();
    const { code } = await alone.code();
    const { asking } = await held(alone, code);
    const started = performance.now();
    await alone.close();
    expect((await asking).body).toMatchObject({ status: 'pending' });
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('DELETE /v1/devices/provisioning-codes/:code', () => {
  it.each<[string, (code: string) => Promise<unknown>]>([
    ['used', (code) => service.register(code)],
    ['cancelled', (code) => cancel(code)],
    ['expired', async () => service.clock.advance(15 * minute)],
  ])('409 pairing_code_not_pending when it is %s, and nothing changes', async (state, end) => {
    const { code } = await service.code();
    await end(code);
    const before = [await snapshot(service), (await status(code)).text];
    expectProblem(await cancel(code), 409, 'pairing_code_not_pending');
    expect([await snapshot(service), (await status(code)).text]).toEqual(before);
    expect(await statusOf(code)).toBe(state);
  });

  it('204 or 201 when it races with a registration, never both', async () => {
    for (let n = 0; n < 5; n++) {
      const { code, screenId } = await service.code();
      const [registered, cancelled] = await Promise.all([service.register(code), cancel(code)]);
      expect([registered.status === 201, cancelled.status === 204]).toContain(true);
      expect(registered.status === 201 && cancelled.status === 204).toBe(false);
      const state = (await service.manage('GET', `/v1/screens/${screenId}`)).body.state;
      expect(state).toBe(registered.status === 201 ? 'active' : 'provisioning');
    }
  });
});
