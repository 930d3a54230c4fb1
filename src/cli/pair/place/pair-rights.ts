import { SignageError } from '../../../domain/error.ts';
import { mayAct, type Role, roles } from '../../../domain/records/role.ts';
import { operations } from '../../../wire/operations.ts';
import type { Reader } from '../../api/client.ts';

/** What the token that pairs may do sideBySide that. */
export interface PairRights {
  role: Role;
  /** Whether it may make what is not there. */
  mayCreate: boolean;
  /** Whether it is bound to venues. */
  isBound: boolean;
}

/** The same, of venues: a token that is bound to some makes no others. */
export const venueRights = <R extends PairRights | undefined>(rights: R): R =>
  rights && { ...rights, mayCreate: rights.mayCreate && !rights.isBound };

/** `operator, admin or platform` */
function rolesFrom(needs: Role): string {
  const able = roles.slice(roles.indexOf(needs));
  return able.length === 1 ? needs : `${able.slice(0, -1).join(', ')} or ${able.at(-1)}`;
}

function notAllowed(role: Role, what: string, needs: Role): SignageError {
  const message = `The token's role, ${role}, may not ${what}: that takes ${rolesFrom(needs)}.`;
  return new SignageError('insufficient_role', message, {
    hint: 'Ask somebody with such a token; signage whoami shows whose this one is.',
  });
}

/** Asks whose token it is. Throws `insufficient_role` when it may not pair at all, before any question is put. */
export async function readRights(reader: Reader): Promise<PairRights> {
  const { role, venueIds } = await reader.read('getMe');
  const needs = operations.createCode.access;
  if (!mayAct(role, needs)) throw notAllowed(role, 'make pairing codes', needs);
  return {
    role,
    mayCreate: mayAct(role, operations.createScreen.access),
    isBound: venueIds !== null,
  };
}

/** Refuses what would have to be made by somebody else, and says by whom. */
export function requireCreateRight({ role, mayCreate }: PairRights, what: string): void {
  if (mayCreate) return;
  const needs = operations.createScreen.access;
  if (!mayAct(role, needs)) throw notAllowed(role, `make ${what}`, needs);
  throw new SignageError(
    'insufficient_role',
    `The token is bound to venues, and may not make ${what}.`,
    {
      hint: 'Ask somebody with a token of the whole tenant; signage whoami shows the venues of this one.',
    },
  );
}
