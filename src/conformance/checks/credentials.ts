import { pause } from '../../client/pause.ts';
import { type Answer, said, saidAll, saidAt, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { heartbeat, unknownId } from '../content.ts';
import type { Fixture } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

const asked = (stage: Fixture, authorization: string) =>
  stage.send('GET', '/v1/me', { headers: { authorization } });
const madeUpToken = `mak_${'A'.repeat(49)}`;

const credentials = about({ id: 'token', subject: 'A management endpoint', section: '5.1' }, [
  profile(
    'missing',
    '401 credential_missing without a token',
    '401 credential_missing',
    async (stage) => said(await stage.send('GET', '/v1/me')),
  ),
  profile(
    'invalid',
    '401 credential_invalid for what is no token, whatever its form',
    '401 credential_invalid, 401 credential_invalid, 401 credential_invalid',
    async (stage) =>
      saidAll([
        await asked(stage, `Bearer ${madeUpToken}`),
        await asked(stage, 'Bearer'),
        await asked(stage, `Bearer ${(await stage.tv()).apiKey}`),
      ]),
  ),
  profile(
    'www-authenticate',
    'each 401 carries WWW-Authenticate: Bearer',
    'Bearer, Bearer',
    async (stage) =>
      [await stage.send('GET', '/v1/me'), await asked(stage, `Bearer ${madeUpToken}`)]
        .map(({ headers }) => headers['www-authenticate'] ?? 'none')
        .join(', '),
  ),
  profile(
    'me',
    'GET /v1/me says whose token it is',
    'all of them, each of its type',
    async (stage) =>
      schemaViolations((await stage.manage('GET', '/v1/me')).json, {
        tokenId: 'uuid',
        name: 'text',
        role: 'text',
        tenantId: 'uuid?',
        tenantName: 'text?',
      }),
  ),
]);

const roles = about(
  { id: 'role', subject: 'The role of a token', section: '5.1', needs: 'tokens' },
  [
    profile(
      '403',
      '403 insufficient_role when it is too low, whatever the record',
      '403 insufficient_role, 403 insufficient_role',
      async (stage) => {
        const viewer = stage.token('viewer');
        return saidAll([
          await stage.as(viewer, 'POST', '/v1/venues', { name: 'x' }),
          await stage.as(viewer, 'PATCH', `/v1/screens/${unknownId}`, {}),
        ]);
      },
    ),
    profile(
      'viewer',
      'a viewer reads, and makes no codes',
      '200, 403 insufficient_role',
      async (stage) => {
        const viewer = stage.token('viewer');
        const screenId = await stage.screen();
        return saidAll([
          await stage.as(viewer, 'GET', `/v1/screens/${screenId}`),
          await stage.as(viewer, 'POST', '/v1/devices/provisioning-codes', { screenId }),
        ]);
      },
    ),
    profile(
      'installer',
      'an installer makes codes and revokes, and makes no screens',
      '201, 200, 403 insufficient_role',
      async (stage) => {
        const installer = stage.token('installer');
        const [screenId, { deviceId }] = [await stage.screen(), await stage.newTv()];
        const code = await stage.as(installer, 'POST', '/v1/devices/provisioning-codes', {
          screenId,
        });
        const revoke = await stage.as(installer, 'POST', `/v1/devices/${deviceId}/revoke`, {});
        return saidAll([
          code,
          revoke,
          await stage.as(installer, 'POST', '/v1/screens', {
            venueId: await stage.venue(),
            name: 'x',
          }),
        ]);
      },
    ),
    profile(
      'operator',
      'an operator makes no tokens and reads no audit trail',
      '403 insufficient_role, 403 insufficient_role',
      async (stage) => {
        const operator = stage.token('operator');
        return saidAll([
          await stage.as(operator, 'POST', '/v1/tokens', { name: 'x', role: 'viewer' }),
          await stage.as(operator, 'GET', '/v1/audit'),
        ]);
      },
    ),
  ],
);

/** The answer to making a token. */
const madeToken = (stage: Fixture, more: object = {}): Promise<Answer> =>
  stage.manage('POST', '/v1/tokens', {
    name: `${stage.name} ${stage.next()}`,
    role: 'viewer',
    ...more,
  });

const tokens = about(
  { id: 'tokens', subject: 'POST /v1/tokens', section: '5.3', needs: 'tokens' },
  [
    profile('once', 'the secret is in the 201 only', 'mak_, nowhere', async (stage) => {
      const { json } = await madeToken(stage);
      const secret = textAt(json, 'token');
      const shown = [
        await stage.manage('GET', `/v1/tokens/${textAt(json, 'id')}`),
        await stage.manage('GET', `/v1/tokens?limit=200&search=${encodeURIComponent(stage.name)}`),
      ];
      return `${secret.slice(0, 4)}, ${secret !== '' && shown.some(({ text }) => text.includes(secret)) ? 'shown again' : 'nowhere'}`;
    }),
    profile(
      'deleted',
      'one that was deleted is 401 credential_invalid',
      '200, 401 credential_invalid',
      async (stage) => {
        const { json } = await madeToken(stage);
        const use = () => stage.send('GET', '/v1/me', { key: textAt(json, 'token') });
        const before = await use();
        await stage.made('DELETE', `/v1/tokens/${textAt(json, 'id')}`);
        return saidAll([before, await use()]);
      },
    ),
    profile(
      'expiry',
      '400 for an expiresAt that is over',
      '400 invalid_request at /expiresAt',
      async (stage) =>
        saidAt(
          await madeToken(stage, { expiresAt: new Date(stage.clock.now() - 60_000).toISOString() }),
        ),
    ),
    profile(
      'expiry.maker',
      'one that a token which expires has made expires no later',
      'no later, no later, as asked',
      async (stage) => {
        const inMinutes = (minutes: number) =>
          new Date(stage.clock.now() + minutes * 60_000).toISOString();
        const end = inMinutes(60);
        const maker = Promise.resolve(
          textAt((await madeToken(stage, { role: 'admin', expiresAt: end })).json, 'token'),
        );
        const seen: string[] = [];
        for (const expiresAt of [undefined, inMinutes(120), inMinutes(30)]) {
          const body = {
            name: `${stage.name} ${stage.next()}`,
            role: 'viewer',
            ...(expiresAt !== undefined && { expiresAt }),
          };
          const given = textAt(
            (await stage.as(maker, 'POST', '/v1/tokens', body)).json,
            'expiresAt',
          );
          seen.push(
            given === expiresAt
              ? 'as asked'
              : given === end
                ? 'no later'
                : `${given} in place of ${expiresAt ?? 'none'}`,
          );
        }
        return seen.join(', ');
      },
    ),
  ],
);

/** Lets the service begin to hold an answer. One that has not begun by then is refused on arrival, which is no failure. */
const beginMs = 200;

/** The answer to a request with `waitSeconds` of which the token is deleted while it is held; `settle` makes the service give it. */
async function heldAfterDeletion(
  stage: Fixture,
  path: string,
  settle: () => Promise<unknown>,
): Promise<string> {
  const { json } = await madeToken(stage);
  const held = stage.as(Promise.resolve(textAt(json, 'token')), 'GET', path);
  await pause(stage.clock, beginMs, stage.signal);
  await stage.made('DELETE', `/v1/tokens/${textAt(json, 'id')}`);
  await settle();
  return said(await held);
}

const heldAnswers = about(
  { id: 'held', subject: 'An answer held by waitSeconds', section: '1.3', needs: 'tokens' },
  [
    profile(
      'code',
      '401 for the status of a code when its token is deleted meanwhile',
      '401 credential_invalid',
      async (stage) => {
        const { code } = await stage.code();
        const path = `/v1/devices/provisioning-codes/${code}/status?waitSeconds=10`;
        return heldAfterDeletion(stage, path, () => stage.register(code));
      },
    ),
    profile(
      'events',
      '401 for events when its token is deleted meanwhile',
      '401 credential_invalid',
      async (stage) => {
        const { deviceId, send } = await stage.newTv();
        const path = `/v1/events?deviceId=${deviceId}&waitSeconds=10`;
        return heldAfterDeletion(stage, path, () =>
          send('POST', 'events', { body: [heartbeat(stage.moment())] }),
        );
      },
    ),
  ],
);

/** Who may do what (docs/protocol.md §5.1, §5.3). */
export const credentialChecks: readonly Check[] = [
  ...credentials,
  ...roles,
  ...tokens,
  ...heldAnswers,
];
