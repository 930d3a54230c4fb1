/** The roles of tokens that belong to a tenant. */
export const tenantRoles = ['viewer', 'installer', 'operator', 'admin'] as const;
/**
 * Roles in ascending order. Each includes the permissions of the earlier ones (docs/protocol.md
 * §5.1).
 */
export const rankedRoles = [...tenantRoles, 'platform'] as const;
/**
 * All roles of management tokens. `backup` has no rank: it may take backups, and call operations
 * that any role may call.
 */
export const roles = [...rankedRoles, 'backup'] as const;
export type Role = (typeof roles)[number];
/** The role that an operation requires. `any`: it takes tokens of every role. */
export type RequiredRole = Role | 'any';

const rankOf = (role: Role) => (rankedRoles as readonly Role[]).indexOf(role);

/** Returns whether a token with role `has` may do something that requires role `needs`. */
export function mayAct(has: Role, needs: RequiredRole): boolean {
  if (needs === 'any') return true;
  if (needs === 'backup') return isPlatformRole(has);
  return rankOf(has) >= rankOf(needs);
}

/** Returns whether tokens of a role belong to the platform, and to no tenant. */
export function isPlatformRole(role: Role): boolean {
  return role === 'platform' || role === 'backup';
}
