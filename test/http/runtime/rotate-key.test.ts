import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';

let service: TestService;
let count = 0;
/** Returns a secret that no other test uses. */
const freshSecret = () => `a-secret-for-one-rotation-${++count}`;

beforeAll(async () => {
  service = await startService();
});

interface RotatingTv extends BoundTv {
  /** Rotates with a key; `secret` is the `Idempotency-Key`, if any. */
  rotate(key: string, secret?: string): Promise<Answer>;
  /** Uses a key for a request. Returns the code or status of the response. */
  call(key: string, what?: 'playlist' | 'config' | 'events'): Promise<string | number>;
  audit(): Promise<string[]>;
}

async function rotatingTv(): Promise<RotatingTv> {
  const tv = await service.tv();
  const rotations = `/devices/${tv.screenId}/keys/rotate`;
  return {
    ...tv,
    rotate: (key, secret) =>
      service.send('POST', rotations, {
        key,
        ...(secret !== undefined && { headers: { 'Idempotency-Key': secret } }),
      }),
    async call(key, what = 'config') {
      const sent = what === 'events' ? { body: [{ type: 'heartbeat', timestamp: 1 }] } : {};
      const { status, body } = await service.send(
        what === 'events' ? 'POST' : 'GET',
        `/devices/${tv.screenId}/${what}`,
        { key, ...sent },
      );
      return body?.code ?? status;
    },
    async audit() {
      const { items } = (await service.manage('GET', `/v1/audit?subjectId=${tv.deviceId}`)).body;
      return items.map(({ action }: { action: string }) => action).toReversed();
    },
  };
}

/** Returns a TV with a retiring old key, and the unused new key. */
async function waiting(secret = freshSecret()) {
  const tv = await rotatingTv();
  const { body } = await tv.rotate(tv.apiKey, secret);
  return { tv, old: tv.apiKey, fresh: body.apiKey as string, secret };
}

describe('POST /devices/:id/keys/rotate', () => {
  it('201 with the device id, too, and the device counts as seen', async () => {
    const tv = await rotatingTv();
    service.clock.advance(60_000);
    const answer = await service.send('POST', `/devices/${tv.deviceId.toUpperCase()}/keys/rotate`, {
      key: tv.apiKey,
    });
    expect(answer.status).toBe(201);
    const { lastSeenAt } = (await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body;
    expect(lastSeenAt).toBe(new Date(service.clock.now()).toISOString());
  });

  it('one key for many simultaneous requests with the same Idempotency-Key', async () => {
    const tv = await rotatingTv();
    const secret = freshSecret();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tv.rotate(tv.apiKey, secret)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await tv.audit()).toEqual(['device.register', 'key.rotate']);
  });

  it('another key for the same Idempotency-Key of another key or another TV', async () => {
    const secret = freshSecret();
    const one = await waiting(secret);
    const other = await waiting(secret);
    expect(one.fresh).not.toBe(other.fresh);
    const next = await one.tv.rotate(one.fresh, secret);
    expect(next.status).toBe(201);
    expect(next.body.apiKey).not.toBe(one.fresh);
  });

  it('needs no body, and ignores one', async () => {
    const tv = await rotatingTv();
    const answer = await service.send('POST', `/devices/${tv.screenId}/keys/rotate`, {
      key: tv.apiKey,
      body: '{"nonsense"',
      untyped: true,
    });
    expect(answer.status).toBe(201);
  });
});

describe('the first use of the new key', () => {
  it.each(['playlist', 'config', 'events'] as const)(
    'revokes the old key, with the %s',
    async (what) => {
      const { tv, old, fresh } = await waiting();
      const expected = { playlist: 'playlist_not_found', config: 200, events: 202 };
      expect(await tv.call(fresh, what)).toBe(expected[what]);
      for (const dead of ['playlist', 'config', 'events'] as const)
        expect(await tv.call(old, dead)).toBe('device_key_revoked');
      expect(await tv.call(fresh)).toBe(200);
      expect(await tv.audit()).toEqual(['device.register', 'key.rotate', 'key.activate']);
    },
  );

  it('revokes the old key once for many simultaneous requests', async () => {
    const { tv, old, fresh } = await waiting();
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => tv.call(fresh))))).toEqual(
      new Set([200]),
    );
    expect(await tv.call(old)).toBe('device_key_revoked');
    expect(await tv.audit()).toEqual(['device.register', 'key.rotate', 'key.activate']);
  });

  it('counts when the request is rejected after authentication: 400 for an invalid batch', async () => {
    const { tv, old, fresh } = await waiting();
    const answer = await service.send('POST', `/devices/${tv.screenId}/events`, {
      key: fresh,
      body: [],
    });
    expectProblem(answer, 400, 'invalid_request');
    expect(await tv.call(old)).toBe('device_key_revoked');
  });
});

describe('the end of keys', () => {
  it('deleting the screen by force orphans them', async () => {
    const { tv, old, fresh } = await waiting();
    expect((await service.manage('DELETE', `/v1/screens/${tv.screenId}?force=true`)).status).toBe(
      204,
    );
    expect([await tv.call(old), await tv.call(fresh)]).toEqual([
      'device_key_orphaned',
      'device_key_orphaned',
    ]);
    expectProblem(await tv.rotate(old), 401, 'device_key_orphaned');
  });

  it('a repeated registration does not revoke them: 409 once the key was used, even for a rotation', async () => {
    const { code, screenId } = await service.code();
    const idempotent = { headers: { 'idempotency-key': freshSecret() } };
    const { apiKey } = (await service.register(code, idempotent)).body;
    expect(
      (await service.send('POST', `/devices/${screenId}/keys/rotate`, { key: apiKey })).status,
    ).toBe(201);
    expectProblem(await service.register(code, idempotent), 409, 'pairing_code_used');
  });
});
