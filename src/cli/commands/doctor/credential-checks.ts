import { SignageError } from '../../../domain/error.ts';
import type { Role } from '../../../domain/records/role.ts';
import type { Profile } from '../../connection/profile.ts';
import { restoredWebhooksText, resumeCommand } from '../../glass/fleet-status.ts';
import type { CommandContext } from '../../program/context.ts';
import { expiresSoon } from '../../records/views/access-views.ts';
import { ago, shellQuote } from '../../terminal/text.ts';
import { type DoctorFinding, fail, ok, warn } from './finding.ts';

const rolePermissions: Readonly<Record<Role, string>> = {
  viewer: 'may read, and change nothing',
  installer: 'may read, pair TVs and revoke them',
  operator: 'may also change venues, screens, playlists and configs',
  admin: 'may do everything in its tenant',
  platform: 'may do everything in every tenant',
  backup: 'may take backups, and nothing else',
};

const login = ({ url }: Profile) => `signage login --url ${shellQuote(url.value)}`;

/**
 * Makes the finding for a rejected request, such as one with an invalid token or an unknown tenant.
 */
function refusal(error: SignageError, profile: Profile): DoctorFinding {
  if (error.code === 'tenant_not_found') {
    return fail(
      'tenant',
      `${error.message} It is from ${profile.tenant?.source ?? 'the service'}.`,
      'signage tenant list',
    );
  }
  if (error.status !== 401) return fail('credential', error.message);
  return fail(
    'credential',
    `The token from ${profile.token?.source} was rejected: ${error.message}`,
    login(profile),
  );
}

/** Checks which token is used, its rights and its tenant. */
export async function checkCredential(
  call: CommandContext,
  profile: Profile,
): Promise<DoctorFinding[]> {
  if (profile.token === undefined)
    return [fail('credential', `There is no token for ${profile.url.value}.`, login(profile))];
  try {
    const me = await call.read('getMe');
    const { name, role, tenantName, tenantId } = me;
    const tenant =
      tenantId === null
        ? warn(
            'tenant',
            'There are several tenants. Choose one with --tenant.',
            'signage tenant list',
          )
        : ok(
            'tenant',
            `${tenantName ?? tenantId}${profile.tenant === undefined ? '' : ` (${profile.tenant.source})`}`,
          );
    const may = Object.hasOwn(rolePermissions, role) ? `: ${rolePermissions[role as Role]}` : '';
    const owned = `The token "${name}", from ${profile.token.source}`;
    const credential = expiresSoon(me, call.clock.now())
      ? warn(
          'credential',
          `${owned}, expires soon: ${ago(me.expiresAt ?? '', call.clock.now())}.`,
          'signage token create',
        )
      : ok('credential', `${owned}.`);
    const bound =
      me.venueIds === null
        ? ''
        : ` in ${me.venueIds.length === 1 ? 'one venue' : `${me.venueIds.length} venues`} only`;
    const findings = [credential, ok('role', `${role}${may}${bound}.`), tenant];
    const canRead = role !== 'backup' && tenantId !== null;
    const paused = canRead ? await restoredWebhooksText(call) : undefined;
    return paused === undefined ? findings : [...findings, warn('webhooks', paused, resumeCommand)];
  } catch (error) {
    if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
    return [refusal(error, profile)];
  }
}
