import { type Role, roles } from '../../domain/records/role.ts';
import { oneOf } from './option.ts';
import type { Setting } from './settings.ts';

/** `--role`, which is required. */
export const roleOption: Setting<Role> = {
  flags: '--role <role>',
  env: undefined,
  help: `what it may do: ${roles.join(', ')}`,
  initial: 'viewer',
  choices: roles,
  required: true,
  read: oneOf(roles, 'viewer', '--role <role>', '').read,
};
