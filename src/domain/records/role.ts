/** What a management token may do, from least to most; each role may all that those before it may (docs/protocol.md §5.1). */
export const roles = ['viewer', 'installer', 'operator', 'admin', 'platform'] as const;
export type Role = (typeof roles)[number];

/** Whether a token of role `has` may do what takes role `needs`. */
export function mayAct(has: Role, needs: Role): boolean {
  return roles.indexOf(has) >= roles.indexOf(needs);
}
