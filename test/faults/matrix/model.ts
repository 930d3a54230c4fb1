// Expected answers by docs/protocol.md §1.3, §2.1, §5.1 and §5.8, independently of the service.
import type { errorKinds } from '../../../src/wire/errors.ts';
import type { Operation, RecordKind } from '../../../src/wire/operations/operations.ts';
import type { Who } from './callers.ts';
import type { Place } from './fixture.ts';

/** The record of a call, and its place. */
export interface Target {
  name: string;
  /** `undefined` for a record that does not exist. */
  place?: Place;
  /** Value of `:id` or `:code`. */
  id: string;
}

/** Error code of the refusal, or `open`. */
export type ExpectedAnswer = keyof typeof errorKinds | 'open';

/** Roles in ascending order. Each includes the rights of those before it. */
const ranks = ['viewer', 'installer', 'operator', 'admin', 'platform'];

function hasRole({ role }: Token, { access }: Operation): boolean {
  if (access === 'any') return true;
  if (access === 'backup') return role === 'backup' || role === 'platform';
  return role !== 'backup' && ranks.indexOf(role) >= ranks.indexOf(access);
}

type Token = Extract<Who, { kind: 'token' }>;

function ofDevice(who: Who, target: Target): ExpectedAnswer {
  if (who.kind === 'nobody') return 'device_key_missing';
  if (who.kind !== 'device') return 'device_key_invalid';
  if (who.dead) return `device_key_${who.dead}`;
  return [who.place?.screenId, who.place?.deviceId].includes(target.id.toLowerCase())
    ? 'open'
    : 'device_key_mismatch';
}

/** Returns the tenant of a token, `null` for none, or the refusal. */
function tenantOf(
  who: Token,
  { access }: Operation,
  known: readonly string[],
): { refused: ExpectedAnswer } | string | null {
  if (who.tenantId !== null)
    return who.names === undefined || who.names === who.tenantId
      ? who.tenantId
      : { refused: 'tenant_not_found' };
  if (who.names !== undefined)
    return known.includes(who.names) ? who.names : { refused: 'tenant_not_found' };
  return ['platform', 'backup', 'any'].includes(access) ? null : { refused: 'tenant_required' };
}

/** Returns whether a token in this tenant may see a place. */
export function isInReach(
  who: Token,
  acting: string | null,
  { tenantId, venueId }: Place,
): boolean {
  return tenantId === acting && (who.venueId === undefined || who.venueId === venueId);
}

function knows(who: Token, acting: string | null, kind: RecordKind, { place }: Target): boolean {
  if (!place) return false;
  if (kind !== 'tenant') return isInReach(who, acting, place);
  // A token bound to venues does not see the tenant.
  return who.role === 'platform' || (place.tenantId === acting && who.venueId === undefined);
}

/** Kinds of records that a body names, by member. */
export const namedInBody: Record<string, RecordKind> = {
  screenId: 'screen',
  venueId: 'venue',
  venueIds: 'venue',
};

/** Returns the tenant of a caller, or the refusal. */
export function acting(
  operation: Operation,
  who: Token,
  known: readonly string[],
): { refused: ExpectedAnswer } | string | null {
  if (who.expired) return { refused: 'credential_expired' };
  if (!hasRole(who, operation) || (operation.wholeTenant && who.venueId !== undefined))
    return { refused: 'insufficient_role' };
  return tenantOf(who, operation, known);
}

/** Returns the expected outcome of a valid request. `members` are those of its body. */
export function expectedAnswer(
  operation: Operation,
  who: Who,
  target: Target,
  members: readonly string[],
  known: readonly string[],
): ExpectedAnswer {
  if (operation.access === 'public') return 'open';
  if (operation.access === 'device') return ofDevice(who, target);
  if (who.kind === 'nobody') return 'credential_missing';
  if (who.kind !== 'token') return 'credential_invalid';
  const tenant = acting(operation, who, known);
  if (typeof tenant === 'object' && tenant !== null) return tenant.refused;
  const named =
    operation.record ??
    members.map((member) => namedInBody[member]).find((kind) => kind !== undefined);
  return named === undefined || knows(who, tenant, named, target) ? 'open' : `${named}_not_found`;
}
