import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import type { SchemaName } from '../../../src/wire/schemas.ts';
import type { Assembled } from '../../support/process/assembled.ts';
import { operationCalls } from '../../support/service/operation-calls.ts';
import type { Answer, Sent } from '../../support/service/service.ts';
import type { Change } from '../../support/stores/ledger-store.ts';
import { type Fixture, makeFixture } from './fixture.ts';

/** Treatment of unknown members (docs/protocol.md §1.7). Default: refused. */
const fates: Partial<Record<SchemaName, 'ignored' | 'kept'>> = {
  registration: 'ignored',
  claimCreation: 'ignored',
  codeCreation: 'ignored',
  revocation: 'ignored',
  eventBatch: 'kept',
  configInput: 'kept',
};

const mark = 'poisoned-4c1f';
const markId = '66666666-bad0-4bad-8bad-666666666666';

/**
 * Members that only the service sets, or that are special in JavaScript, with values that must not
 * appear anywhere. `undefined`: the first member of the body, which follows once more.
 */
function poisons({ foreign }: Fixture): [member: string | undefined, value: unknown][] {
  const inside = { [mark]: true, tenantId: foreign.tenantId };
  return [
    ['id', markId],
    ['tenantId', foreign.tenantId],
    ['deviceId', markId],
    ['createdAt', mark],
    ['state', mark],
    ['status', mark],
    ['hash', mark],
    ['bootstrap', mark],
    ['version', 990_099],
    [mark, true],
    ['__proto__', inside],
    ['constructor', { prototype: inside }],
    ['prototype', inside],
    ['toString', mark],
    ['', mark],
    [undefined, mark],
  ];
}

/** Adds a member to the body. For a batch, to its first event. */
function poisoned(body: unknown, member: string, value: unknown): string {
  return JSON.stringify(body)
    .replace('{', `{${JSON.stringify(member)}:${JSON.stringify(value)},`)
    .replace(',}', '}');
}

/**
 * Returns the stored rows and the answer, without data that is kept as sent. The service itself
 * chooses the `share` of a claim from the tenants that trust the caller's address.
 */
function told(changes: readonly Change[], answer: Answer, isKept: boolean): string {
  const left = { config: undefined, items: undefined, share: undefined };
  const rows = changes.map(({ row }) => ({ ...row, ...left }));
  return `${JSON.stringify(rows)} ${isKept ? '' : answer.text}`;
}

interface Tried {
  member: string;
  /** What becomes of the member whatever its body is (docs/protocol.md §1.1). */
  always: 'dropped' | 'refused' | undefined;
  body: SchemaName;
  operation: Operation;
  answer: Answer;
  changes: readonly Change[];
  fixtureRows: Fixture;
}

function judge({ member, always, body, operation, answer, changes, fixtureRows }: Tried): string[] {
  const fate = always ?? fates[body] ?? 'refused';
  const wrong: string[] = [];
  if (mark in {}) wrong.push('it got into the prototype of all objects');
  const text = told(changes, answer, fates[body] === 'kept');
  for (const trace of [mark, markId, '990099', fixtureRows.foreign.tenantId]) {
    // A refusal names the unknown member.
    if (text.replaceAll(`/${mark}`, '').includes(trace)) wrong.push(`${trace} was put or answered`);
  }
  if (fate !== 'refused') {
    return answer.status === operation.status
      ? wrong
      : [...wrong, `${operation.status} was due, it is ${answer.status} ${answer.text}`];
  }
  const paths = answer.body?.errors?.map(({ path }: { path: string }) => path);
  if (answer.status !== 400 || !paths?.includes(`/${member}`))
    wrong.push(`400 at /${member} was due, it is ${answer.status} ${answer.text}`);
  if (changes.length > 0) wrong.push('refused, and yet something changed');
  return wrong;
}

const fateOfProto = ({ access }: Operation): Tried['always'] =>
  ['public', 'device'].includes(access) ? 'dropped' : 'refused';

/** Sends every body with extra members. Returns those that have an effect. */
export async function runAssignments(
  service: Assembled,
  only?: readonly string[],
): Promise<{ cells: number; wrong: string[] }> {
  const fixtureRows = await makeFixture(service);
  const { inside, masters, platform } = fixtureRows;
  const calls = operationCalls(service, masters.home, inside.tenantId);
  const sender = ({ access }: Operation) =>
    access === 'platform' ? platform.send : access === 'device' ? byTv : masters.home.send;
  const byTv = (method: string, path: string, sent?: Sent) =>
    service.send(method, path, { ...sent, key: inside.apiKey });
  const wrong: string[] = [];
  let cells = 0;
  for (const [id, operation] of Object.entries<Operation>(operations)) {
    if (!operation.body || (only && !only.includes(id))) continue;
    // They need a key and a sealed day: test/service/statements.
    if (operation.path.startsWith('/v1/statements')) continue;
    for (const [poison, value] of poisons(fixtureRows)) {
      const named =
        operation.access === 'device' ? inside.screenId : await calls.makeFor(operation);
      const valid = await calls.bodyOf(operation, {});
      const member = poison ?? Object.keys([valid].flat()[0] as object)[0];
      if (member === undefined) continue;
      const body = poisoned(valid, member, value);
      const before = service.changes.length;
      const answer = await sender(operation)(
        operation.method,
        operation.path.replace(/:(id|name|code|claim)/, named),
        { body },
      );
      cells++;
      const tried = {
        member,
        always:
          poison === undefined
            ? ('dropped' as const)
            : poison === '__proto__'
              ? fateOfProto(operation)
              : undefined,
        body: operation.body,
        operation,
        answer,
        changes: service.changes.slice(before),
        fixtureRows,
      };
      wrong.push(
        ...judge(tried).map(
          (complaint) =>
            `${operation.method} ${operation.path} with ${JSON.stringify(member)}: ${complaint}`,
        ),
      );
    }
  }
  return { cells, wrong };
}
