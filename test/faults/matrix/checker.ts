import { errorKinds, type ServiceErrorCode } from '../../../src/wire/errors.ts';
import type { Operation } from '../../../src/wire/operations/operations.ts';
import type { Answer } from '../../support/service/service.ts';
import type { Change } from '../../support/stores/ledger-store.ts';
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
 * Returns the violations of a refusal: the exact code, a complete problem document, and no change.
 */
export function checkRefusal({ answer, changes, expected, requestId, isHead }: Refused): string[] {
  const { status, title } = errorKinds[expected as ServiceErrorCode];
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
  /** The tenant of the call. */
  tenantId: string | null;
}

/** Returns whether the status is that of success, or one that the state of the fixture explains. */
function isDue({ id, operation, answer, who }: Opened): boolean {
  const isBound = who.kind === 'token' && who.venueId !== undefined;
  // The only venue of such a token has screens. There is no object store and no on-demand source.
  const refused: Record<string, number | false> = {
    deleteVenue: isBound && 409,
    refreshPlaylist: 501,
    listMirror: 501,
    repairMirror: 501,
  };
  return answer.status === (refused[id] || operation.status);
}

/** Returns ids and texts of records, and members of configs, that the caller must not see. */
function hidden({ id, operation, who, fixtureRows, tenantId }: Opened): string[] {
  // A backup contains all tenants. The code of a registration decides what it answers.
  if (
    id === 'createBackup' ||
    operation.access === 'public' ||
    who.kind !== 'token' ||
    tenantId === null
  )
    return [];
  const places = [fixtureRows.inside, fixtureRows.outside, fixtureRows.foreign].filter(
    (place) => !isInReach(who, tenantId, place),
  );
  const levels = who.venueId === undefined ? [] : ['config of the tenant', '"tenant":'];
  const texts = places.flatMap(({ name }) => [` ${name}"`, `/${name}"`]);
  const ids = places.flatMap(
    ({ venueId, screenId, spareId, deviceId, tokenId, webhookId, code }) => [
      venueId,
      screenId,
      spareId,
      deviceId,
      tokenId,
      webhookId,
      code,
    ],
  );
  return [...ids, ...texts, ...levels];
}

/** Returns the violations of a successful call: no data and no change of others. */
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
