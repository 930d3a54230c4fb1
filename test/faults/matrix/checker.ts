import { type ErrorCode, errorKinds } from '../../../src/wire/errors.ts';
import type { Operation } from '../../../src/wire/operations.ts';
import type { Change } from '../../support/ledger-store.ts';
import type { Answer } from '../../support/service.ts';
import type { Who } from './callers.ts';
import type { Fixture } from './fixture.ts';
import { type ExpectedAnswer, isInReach } from './model.ts';

interface Refused {
  answer: Answer;
  changes: readonly Change[];
  expected: ExpectedAnswer;
  requestId: string;
  isHead: boolean;
}

const tables = (changes: readonly Change[]) => changes.map(({ table }) => table).join(', ');

/**
 * What is wrong with a refusal: it must be the very one, a whole problem document, and nothing may
 * have changed.
 */
export function checkRefusal({ answer, changes, expected, requestId, isHead }: Refused): string[] {
  const { status, title } = errorKinds[expected as ErrorCode];
  const { headers, body } = answer;
  const wrong: string[] = [];
  const told = isHead ? '' : ` ${body?.code}`;
  if (answer.status !== status || (!isHead && body?.code !== expected))
    wrong.push(`${status} ${expected} was due, it is ${answer.status}${told}`);
  if (changes.length > 0) wrong.push(`refused, and yet it changed ${tables(changes)}`);
  if ((answer.status === 401) !== (headers.get('www-authenticate')?.startsWith('Bearer ') ?? false))
    wrong.push('WWW-Authenticate is not as it must be');
  if (headers.get('content-type') !== 'application/problem+json')
    wrong.push(`it is ${headers.get('content-type')}`);
  if (headers.get('x-request-id') !== requestId) wrong.push('it has another X-Request-Id');
  if (isHead) return answer.text === '' ? wrong : [...wrong, 'HEAD has a body'];
  const members = { type: 'about:blank', title, status, code: expected, requestId };
  for (const [name, value] of Object.entries(members))
    if (body?.[name] !== value) wrong.push(`its ${name} is ${body?.[name]}`);
  const extra = Object.keys(body ?? {}).filter((name) => name !== 'detail' && !(name in members));
  if (extra.length > 0) wrong.push(`it tells ${extra.join(', ')}`);
  return wrong;
}

interface Opened {
  id: string;
  operation: Operation;
  answer: Answer;
  changes: readonly Change[];
  who: Who;
  fixtureRows: Fixture;
  /** The tenant that the caller steps in. */
  tenantId: string | null;
  /** Whether the store makes backups; a database has tools of its own for that. */
  backups: boolean;
}

/**
 * The status of success, or what is answered in its place because of how things stand in the
 * fixtureRows.
 */
function isDue({ id, operation, answer, who, backups }: Opened): boolean {
  const isBound = who.kind === 'token' && who.venueId !== undefined;
  // The only venue that such a token knows of has screens; and there is no object store.
  const isRefused =
    { deleteVenue: isBound, listMirror: true, repairMirror: true, createBackup: !backups }[id] ??
    false;
  return answer.status === (isRefused ? 409 : operation.status);
}

/** Ids of records that the caller may not know of. */
function hidden({ id, who, fixtureRows, tenantId }: Opened): string[] {
  // A backup is of all tenants, whichever the one who asks steps in.
  if (id === 'createBackup' || who.kind !== 'token' || tenantId === null) return [];
  const places = [fixtureRows.inside, fixtureRows.outside, fixtureRows.foreign].filter(
    (place) => !isInReach(who, tenantId, place),
  );
  return places.flatMap(({ venueId, screenId, spareId, deviceId, tokenId, code }) => [
    venueId,
    screenId,
    spareId,
    deviceId,
    tokenId,
    code,
  ]);
}

/**
 * What is wrong with an answer to somebody who is let in: it must succeed, tell nothing that is not
 * theirs, and change nothing of others.
 */
export function checkAllowed(opened: Opened): string[] {
  const { operation, answer, changes, tenantId } = opened;
  const wrong: string[] = [];
  if (!isDue(opened))
    wrong.push(`${operation.status} was due, it is ${answer.status} ${answer.body?.code}`);
  const told = hidden(opened).filter((id) => answer.text.includes(id));
  if (told.length > 0)
    wrong.push(`it tells of ${told.join(', ')}, which the caller may not know of`);
  for (const { table, row } of changes) {
    if (row && 'tenantId' in row && tenantId !== null && row.tenantId !== tenantId)
      wrong.push(`it changed ${table} of another tenant`);
  }
  return wrong;
}
