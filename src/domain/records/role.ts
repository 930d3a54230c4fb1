/**
 * Roles of management tokens, in ascending order. Each includes the permissions of the earlier ones
 * (docs/protocol.md §5.1).
 */
export const roles = ['viewer', 'installer', 'operator', 'admin', 'platform'] as const;
export type Role = (typeof roles)[number];

/** Returns whether a token with role `has` may do something that requires role `needs`. */
export function mayAct(has: Role, needs: Role): boolean {
  return roles.indexOf(has) >= roles.indexOf(needs);
}
