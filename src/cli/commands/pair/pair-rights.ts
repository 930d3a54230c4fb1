import { SignageError } from '../../../domain/error.ts';
import { mayAct, type Role, rankedRoles } from '../../../domain/records/role.ts';
import { operations } from '../../../wire/operations/operations.ts';
import type { ServiceReader } from '../../connection/client.ts';

/** Rights of the token, in addition to the right to pair. */
export interface PairRights {
  role: Role;
  /** Whether the token may create missing venues and screens. */
  mayCreate: boolean;
  /** Whether the token is limited to some venues. */
  isBound: boolean;
}

/** Returns the rights for venues. A token limited to some venues may not create venues. */
export const venueRights = <R extends PairRights | undefined>(rights: R): R =>
  rights && { ...rights, mayCreate: rights.mayCreate && !rights.isBound };

/** Lists a role and all higher roles: `operator, admin or platform`. */
export function rolesFrom(needs: Role): string {
  const able = rankedRoles.filter((role) => mayAct(role, needs));
  return able.length === 1 ? needs : `${able.slice(0, -1).join(', ')} or ${able.at(-1)}`;
}

function notAllowed(role: Role, what: string, needs: Role): SignageError {
  const message = `The token's role ${role} may not ${what}. Needed: ${rolesFrom(needs)}.`;
  return new SignageError('insufficient_role', message, {
    hint: 'Ask a person whose token has such a role. To see your own role: signage whoami',
  });
}

/**
 * Reads the rights of the token. If the token may not pair, throws `insufficient_role` before any
 * question.
 */
export async function readRights(reader: ServiceReader): Promise<PairRights> {
  const { role, venueIds } = await reader.read('getMe');
  const needs = operations.createCode.access;
  if (!mayAct(role, needs)) throw notAllowed(role, 'create pairing codes', needs);
  return {
    role,
    mayCreate: mayAct(role, operations.createScreen.access),
    isBound: venueIds !== null,
  };
}

/**
 * Throws `insufficient_role` if the token may not create `what`. The error names the roles that
 * may, or says that the token is limited to some venues.
 */
export function requireCreateRight({ role, mayCreate }: PairRights, what: string): void {
  if (mayCreate) return;
  const needs = operations.createScreen.access;
  if (!mayAct(role, needs)) throw notAllowed(role, `create ${what}`, needs);
  throw new SignageError(
    'insufficient_role',
    `The token is limited to some venues and may not create ${what}.`,
    {
      hint: 'Ask somebody with a token for the whole tenant. To see the venues of your token: signage whoami',
    },
  );
}
