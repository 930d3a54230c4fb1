import { pause } from '../../client/pause.ts';
import { iso } from '../../domain/clock.ts';
import { mapInTurn } from '../../domain/concurrency.ts';
import { type Answer, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { heartbeat } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

const newToken = (fixture: Fixture, more: object) => ({
  name: fixture.newName(),
  role: 'viewer',
  ...more,
});

/** Tries to create a token, and returns the response. */
const createToken = (fixture: Fixture, more: object = {}): Promise<Answer> =>
  fixture.manage('POST', '/v1/tokens', newToken(fixture, more));

const tokens = checkGroup(
  { id: 'tokens', subject: 'POST /v1/tokens', section: '5.3', needs: 'tokens' },
  [
    profile('once', 'only the 201 contains the secret').expects(
      'mak_, nowhere',
      async (fixture) => {
        const { json } = await createToken(fixture);
        const secret = textAt(json, 'token');
        const search = encodeURIComponent(fixture.name);
        const shown = [
          await fixture.manage('GET', `/v1/tokens/${textAt(json, 'id')}`),
          await fixture.manage('GET', `/v1/tokens?limit=200&search=${search}`),
        ];
        const isShown = secret !== '' && shown.some(({ text }) => text.includes(secret));
        return [secret.slice(0, 4), isShown ? 'shown again' : 'nowhere'];
      },
    ),
    profile('deleted', '401 credential_invalid for a deleted token').expects(
      '200, 401 credential_invalid',
      async (fixture) => {
        const { json } = await createToken(fixture);
        const use = () => fixture.send('GET', '/v1/me', { key: textAt(json, 'token') });
        const before = await use();
        await fixture.requireOk('DELETE', `/v1/tokens/${textAt(json, 'id')}`);
        return [before, await use()];
      },
    ),
    profile('expiry', '400 for an expiresAt in the past').expects(
      '400 invalid_request at /expiresAt',
      (fixture) => createToken(fixture, { expiresAt: iso(fixture.clock.now() - 60_000) }),
    ),
    profile(
      'expiry.maker',
      'a token created with an expiring token expires no later than that',
    ).expects('no later, no later, as asked', async (fixture) => {
      const inMinutes = (minutes: number) => iso(fixture.clock.now() + minutes * 60_000);
      const end = inMinutes(60);
      const maker = (await createToken(fixture, { role: 'admin', expiresAt: end })).json;
      const key = textAt(maker, 'token');
      return mapInTurn([undefined, inMinutes(120), inMinutes(30)], async (expiresAt) => {
        const body = newToken(fixture, { expiresAt });
        const { json } = await fixture.send('POST', '/v1/tokens', { key, body });
        const given = textAt(json, 'expiresAt');
        if (given === expiresAt) return 'as asked';
        return given === end ? 'no later' : `${given} in place of ${expiresAt ?? 'none'}`;
      });
    }),
  ],
);

/** Rotates a token, and returns the response. */
const rotate = (fixture: Fixture, id: string, key: string): Promise<Answer> =>
  fixture.manage('POST', `/v1/tokens/${id}/rotate`, undefined, {
    headers: { 'idempotency-key': key },
  });

const rotations = checkGroup(
  {
    id: 'token.rotate',
    subject: 'POST /v1/tokens/:id/rotate',
    section: '5.13',
    needs: 'tokens',
  },
  [
    profile('same', 'the token keeps its id, name and role, and gets another secret').expects(
      '200, the same token, another secret',
      async (fixture) => {
        const { json } = await createToken(fixture);
        const rotated = await rotate(fixture, textAt(json, 'id'), fixture.idempotencyKey());
        const isSame = ['id', 'name', 'role'].every(
          (member) => textAt(rotated.json, member) === textAt(json, member),
        );
        const secret = textAt(rotated.json, 'token');
        const isOther = secret.startsWith('mak_') && secret !== textAt(json, 'token');
        return [
          rotated,
          isSame ? 'the same token' : 'another token',
          isOther ? 'another secret' : 'no new secret',
        ];
      },
    ),
    profile('overlap', 'the old secret works until the new one is first used').expects(
      '200, 200, 401 credential_invalid, 200',
      async (fixture) => {
        const { json } = await createToken(fixture);
        const rotated = await rotate(fixture, textAt(json, 'id'), fixture.idempotencyKey());
        const use = (of: unknown) => fixture.send('GET', '/v1/me', { key: textAt(of, 'token') });
        return [await use(json), await use(rotated.json), await use(json), await use(rotated.json)];
      },
    ),
    profile('repeat', 'the same Idempotency-Key gets the same secret, until it is used').expects(
      'the same secret, 409 not_repeatable',
      async (fixture) => {
        const id = textAt((await createToken(fixture)).json, 'id');
        const key = fixture.idempotencyKey();
        const secret = textAt((await rotate(fixture, id, key)).json, 'token');
        const again = textAt((await rotate(fixture, id, key)).json, 'token');
        await fixture.send('GET', '/v1/me', { key: secret });
        return [
          secret !== '' && again === secret ? 'the same secret' : 'another secret',
          await rotate(fixture, id, key),
        ];
      },
    ),
    profile('replaced', 'a second rotation ends an unused secret, and not the old one').expects(
      '200, 401 credential_invalid, 200',
      async (fixture) => {
        const { json } = await createToken(fixture);
        const id = textAt(json, 'id');
        const lost = await rotate(fixture, id, fixture.idempotencyKey());
        const found = await rotate(fixture, id, fixture.idempotencyKey());
        const use = (of: unknown) => fixture.send('GET', '/v1/me', { key: textAt(of, 'token') });
        return [await use(json), await use(lost.json), await use(found.json)];
      },
    ),
    profile('maker', '403 for a token that outlives the caller').expects(
      '403 insufficient_role, 200',
      async (fixture) => {
        const end = iso(fixture.clock.now() + 60 * 60_000);
        const maker = (await createToken(fixture, { role: 'admin', expiresAt: end })).json;
        const lasting = (await createToken(fixture)).json;
        const path = (of: unknown) => `/v1/tokens/${textAt(of, 'id')}/rotate`;
        const key = textAt(maker, 'token');
        return [
          await fixture.send('POST', path(lasting), { key }),
          await fixture.send('POST', path(maker), { key }),
        ];
      },
    ),
  ],
);

/**
 * Time for the service to begin the long poll, in milliseconds. If it is too short, the service
 * rejects the request on arrival, and the check still passes.
 */
const holdStartMs = 200;

/**
 * Starts a long poll (`waitSeconds`) and deletes its token. `settle` then makes the service
 * respond. Returns the response to the long poll.
 */
async function heldAfterDeletion(
  fixture: Fixture,
  path: string,
  settle: () => Promise<unknown>,
): Promise<Answer> {
  const { json } = await createToken(fixture);
  const held = fixture.send('GET', path, { key: textAt(json, 'token') });
  await pause(fixture.clock, holdStartMs, fixture.signal);
  await fixture.requireOk('DELETE', `/v1/tokens/${textAt(json, 'id')}`);
  await settle();
  return held;
}

const heldAnswers = checkGroup(
  { id: 'held', subject: 'An answer held by waitSeconds', section: '1.3', needs: 'tokens' },
  [
    profile('code', '401 for the status of a code if the token is deleted meanwhile').expects(
      '401 credential_invalid',
      async (fixture) => {
        const { code } = await fixture.code();
        const path = `/v1/devices/provisioning-codes/${code}/status?waitSeconds=10`;
        return heldAfterDeletion(fixture, path, () => fixture.register(code));
      },
    ),
    profile('events', '401 for events if the token is deleted meanwhile').expects(
      '401 credential_invalid',
      async (fixture) => {
        const { deviceId, send } = await fixture.newTv();
        const path = `/v1/events?deviceId=${deviceId}&waitSeconds=10`;
        return heldAfterDeletion(fixture, path, () =>
          send('POST', 'events', { body: [heartbeat(fixture.uniqueTimestamp())] }),
        );
      },
    ),
  ],
);

const logins = checkGroup(
  { id: 'login', subject: 'POST /v1/logins', section: '5.20', needs: 'tokens' },
  [
    profile('approved', 'held until an approval, whose token only the asker gets').expects(
      '201, 200, 200, 404 login_not_found, 409 login_approved, 204, nowhere',
      async (fixture) => {
        const body = { user: 'conformance', host: 'check' };
        const { json } = await fixture.send('POST', '/v1/logins', { body });
        const [key, path] = [textAt(json, 'secret'), `/v1/logins/${textAt(json, 'code')}`];
        const held = fixture.send('GET', `${path}/status?waitSeconds=20`, { key });
        const expiresAt = iso(fixture.clock.now() + 60_000);
        const approval = newToken(fixture, { expiresAt, allVenues: true });
        const approve = () => fixture.manage('POST', `${path}/approve`, approval);
        const approved = await approve();
        const token = textAt((await held).json, 'grant.token');
        return [
          approved,
          await held,
          await fixture.send('GET', '/v1/me', { key: token }),
          await fixture.send('GET', `${path}/status`, { key }),
          await approve(),
          await fixture.send('DELETE', path, { key }),
          approved.text.includes(token) ? 'in the approval' : 'nowhere',
        ];
      },
    ),
  ],
);

/** Checks of tokens and login requests (docs/protocol.md §1.3, §5.3, §5.13, §5.20). */
export const tokenChecks: readonly ConformanceCheck[] = [
  ...tokens,
  ...rotations,
  ...logins,
  ...heldAnswers,
];
