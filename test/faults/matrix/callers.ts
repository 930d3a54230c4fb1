import { hashKey } from '../../../src/domain/api-key.ts';
import { type Role, rankedRoles } from '../../../src/domain/records/role.ts';
import { type Manager, unknownId } from '../../support/service/management.ts';
import type { Fixture, Place } from './fixture.ts';

/** The caller in terms of the authorization rules. */
export type Who =
  | { kind: 'nobody' }
  /** An invalid credential. */
  | { kind: 'noise' }
  | { kind: 'device'; place?: Place; dead?: 'revoked' | 'orphaned' }
  | {
      kind: 'token';
      role: Role;
      /** Its tenant, or `null` for a platform token. */
      tenantId: string | null;
      /** The venue that it is bound to. */
      venueId?: string;
      expired?: boolean;
      /** Value of `X-Tenant-Id`. */
      names?: string;
    };

export interface Caller {
  name: string;
  headers: Record<string, string>;
  who: Who;
}

const caller = (name: string, key: string, who: Who): Caller => ({
  name,
  headers: { Authorization: `Bearer ${key}` },
  who,
});
const tenantRoles = rankedRoles.filter((role) => role !== 'platform');

async function tokenOf(by: Manager, role: Role, more: object = {}): Promise<string> {
  const { status, text, body } = await by.post('/v1/tokens', {
    name: `${role} ${crypto.randomUUID()}`,
    role,
    ...more,
  });
  if (status !== 201) throw new Error(`No token for the fixtureRows: ${status} ${text}`);
  return body.token;
}

/** Returns invalid and deleted credentials. */
function noise({ inside, deleted, platform: { token } }: Fixture): Caller[] {
  const says = (name: string, Authorization: string): Caller => ({
    name,
    headers: { Authorization },
    who: { kind: 'noise' },
  });
  return [
    says('an empty header', ''),
    says('a scheme alone', 'Bearer'),
    says('a prefix alone', 'Bearer mak_'),
    says('a token of another scheme', `Basic ${token}`),
    says('a token without a scheme', token),
    says('a token and more', `Bearer ${token}x`),
    says('a token cut short', `Bearer ${token.slice(0, -1)}`),
    says('two tokens', `Bearer ${token} ${token}`),
    says('a token in quotes', `Bearer "${token}"`),
    says('an unknown token', `Bearer mak_${'0'.repeat(49)}`),
    says(
      'a device key with a typo',
      `Bearer ${inside.apiKey.slice(0, -1)}${inside.apiKey.endsWith('a') ? 'b' : 'a'}`,
    ),
    says('the hash that is stored of a token', `Bearer ${hashKey(token)}`),
    says('a token’s id', `Bearer ${inside.tokenId}`),
    says('a pairing code', `Bearer ${inside.code}`),
    ...Object.entries(deleted).map(([role, gone]) =>
      says(`a deleted token: ${role}`, `Bearer ${gone}`),
    ),
  ];
}

function tvs({ inside, outside, foreign, dead }: Fixture): Caller[] {
  return [
    ...[inside, outside, foreign].map((place) =>
      caller(`the TV ${place.name}`, place.apiKey, { kind: 'device', place }),
    ),
    ...Object.entries(dead).map(([why, { apiKey }]) =>
      caller(`a TV whose key was ${why}`, apiKey, {
        kind: 'device',
        dead: why === 'orphaned' ? 'orphaned' : 'revoked',
      }),
    ),
  ];
}

/** Returns valid tokens of each role: of both tenants, and bound to venues. */
async function managers({ inside, outside, foreign, masters }: Fixture): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const role of tenantRoles) {
    const add = async (name: string, by: Manager, { tenantId }: Place, venueId?: string) => {
      const token = await tokenOf(by, role, venueId === undefined ? {} : { venueIds: [venueId] });
      const bound = venueId === undefined ? {} : { venueId };
      callers.push(caller(`${role} ${name}`, token, { ...tokenWho(role, tenantId), ...bound }));
    };
    await add('of the tenant', masters.home, inside);
    await add('of another tenant', masters.foreign, foreign);
    await add('bound to the venue inside', masters.home, inside, inside.venueId);
    await add('bound to the venue outside', masters.home, outside, outside.venueId);
  }
  return callers;
}

/** Returns tokens with `X-Tenant-Id`, and expired tokens. */
async function naming({ inside, foreign, masters, platform, expired }: Fixture): Promise<Caller[]> {
  const named = {
    'the tenant': inside.tenantId,
    'another tenant': foreign.tenantId,
    'an unknown tenant': unknownId,
    'no id': "x'; --",
  };
  const own = inside.tenantId;
  const viewer = await tokenOf(masters.home, 'viewer');
  const admin = await tokenOf(masters.home, 'admin');
  const backup = await tokenOf(masters.home, 'backup');
  const keys = [
    ['platform', platform.token, null],
    ['viewer', viewer, own],
    ['admin', admin, own],
  ] as const;
  const otherCase = caller('admin by another case of the scheme', admin, tokenWho('admin', own));
  return [
    caller('platform without a tenant', platform.token, tokenWho('platform', null)),
    caller('backup', backup, tokenWho('backup', null)),
    { ...otherCase, headers: { Authorization: `bEARER ${admin}` } },
    ...Object.entries(named).flatMap(([name, names]) =>
      keys.map(([role, key, tenantId]): Caller => {
        const who = { ...tokenWho(role, tenantId), names };
        const { headers } = caller(name, key, who);
        return {
          name: `${role} naming ${name}`,
          headers: { ...headers, 'X-Tenant-Id': names },
          who,
        };
      }),
    ),
    ...Object.entries(expired).map(([role, key]) =>
      caller(`${role} whose token expired`, key, { ...tokenWho(role as Role, own), expired: true }),
    ),
  ];
}

const tokenWho = (role: Role, tenantId: string | null) =>
  ({ kind: 'token', role, tenantId }) as const;

/** Returns all kinds of callers. */
export async function makeCallers(fixtureRows: Fixture): Promise<Caller[]> {
  const nobody: Caller = { name: 'nobody', headers: {}, who: { kind: 'nobody' } };
  return [
    nobody,
    ...noise(fixtureRows),
    ...tvs(fixtureRows),
    ...(await managers(fixtureRows)),
    ...(await naming(fixtureRows)),
  ];
}
