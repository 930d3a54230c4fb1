import { challenge, schemaViolations } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from '../fixture/check.ts';
import { unknownId } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

const getMeWith = (fixture: Fixture, authorization: string) =>
  fixture.send('GET', '/v1/me', { headers: { authorization } });
const madeUpToken = `mak_${'A'.repeat(49)}`;

const credentials = checkGroup({ id: 'token', subject: 'A management endpoint', section: '5.1' }, [
  profile('missing', '401 credential_missing without a token').expects(
    '401 credential_missing',
    (fixture) => fixture.send('GET', '/v1/me'),
  ),
  profile('invalid', '401 credential_invalid for anything that is not a token').expects(
    '401 credential_invalid, 401 credential_invalid, 401 credential_invalid',
    async (fixture) => [
      await getMeWith(fixture, `Bearer ${madeUpToken}`),
      await getMeWith(fixture, 'Bearer'),
      await getMeWith(fixture, `Bearer ${(await fixture.tv()).apiKey}`),
    ],
  ),
  profile('www-authenticate', 'each 401 has WWW-Authenticate: Bearer').expects(
    'Bearer, Bearer',
    async (fixture) =>
      [await fixture.send('GET', '/v1/me'), await getMeWith(fixture, `Bearer ${madeUpToken}`)].map(
        challenge,
      ),
  ),
  profile('me', 'GET /v1/me describes the token').expects(
    'all members with the right types',
    async (fixture) =>
      schemaViolations((await fixture.manage('GET', '/v1/me')).json, {
        uuid: ['tokenId'],
        text: ['name', 'role'],
        'uuid?': ['tenantId'],
        'text?': ['tenantName'],
      }),
  ),
]);

const roles = checkGroup(
  { id: 'role', subject: 'The role of a token', section: '5.1', needs: 'tokens' },
  [
    profile(
      '403',
      '403 insufficient_role if the role is too low, even for an unknown record',
    ).expects('403 insufficient_role, 403 insufficient_role', async (fixture) => {
      const viewer = fixture.token('viewer');
      return [
        await fixture.as(viewer, 'POST', '/v1/venues', { name: 'x' }),
        await fixture.as(viewer, 'PATCH', `/v1/screens/${unknownId}`, {}),
      ];
    }),
    profile('viewer', 'a viewer can read, but not create codes').expects(
      '200, 403 insufficient_role',
      async (fixture) => {
        const viewer = fixture.token('viewer');
        const screenId = await fixture.screen();
        return [
          await fixture.as(viewer, 'GET', `/v1/screens/${screenId}`),
          await fixture.as(viewer, 'POST', '/v1/devices/provisioning-codes', { screenId }),
        ];
      },
    ),
    profile(
      'installer',
      'an installer can create codes and revoke, but not create screens',
    ).expects('201, 200, 403 insufficient_role', async (fixture) => {
      const installer = fixture.token('installer');
      const screenId = await fixture.screen();
      const { deviceId } = await fixture.newTv();
      const venueId = await fixture.venue();
      return [
        await fixture.as(installer, 'POST', '/v1/devices/provisioning-codes', { screenId }),
        await fixture.as(installer, 'POST', `/v1/devices/${deviceId}/revoke`, {}),
        await fixture.as(installer, 'POST', '/v1/screens', { venueId, name: 'x' }),
      ];
    }),
    profile('operator', 'an operator can neither create tokens nor read the audit trail').expects(
      '403 insufficient_role, 403 insufficient_role',
      async (fixture) => {
        const operator = fixture.token('operator');
        return [
          await fixture.as(operator, 'POST', '/v1/tokens', { name: 'x', role: 'viewer' }),
          await fixture.as(operator, 'GET', '/v1/audit'),
        ];
      },
    ),
  ],
);

const platformRoles = checkGroup(
  { id: 'role', subject: 'The role of a token', section: '5.1', needs: 'platform' },
  [
    profile('backup', 'a backup token can neither read, nor change, nor create tokens').expects(
      '200, 403 insufficient_role, 403 insufficient_role, 403 insufficient_role',
      async (fixture) => {
        const backup = fixture.token('backup');
        return [
          await fixture.as(backup, 'GET', '/v1/me'),
          await fixture.as(backup, 'GET', '/v1/venues'),
          await fixture.as(backup, 'POST', '/v1/venues', { name: 'x' }),
          await fixture.as(backup, 'POST', '/v1/tokens', { name: 'x', role: 'backup' }),
        ];
      },
    ),
  ],
);

/** Checks of credentials and roles (docs/protocol.md §5.1). */
export const credentialChecks: readonly ConformanceCheck[] = [
  ...credentials,
  ...roles,
  ...platformRoles,
];
