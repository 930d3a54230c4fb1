import { type Role, roles } from '../../domain/records/role.ts';
import { oneOf, type Setting } from './settings.ts';

const flags = '--role <role>';
const help = `what it may do: ${roles.join(', ')}`;

/** `--role`, which must be given. */
export const roleOption: Setting<Role> = {
  ...{ flags, env: undefined, help, initial: 'viewer', choices: roles, required: true },
  read: oneOf(roles, 'viewer', flags, undefined, help).read,
};
