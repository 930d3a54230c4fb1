import { secondMs } from '../../../src/domain/clock.ts';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import type { Assembled } from '../../support/process/assembled.ts';
import { unknownId } from '../../support/service/management.ts';
import { operationCalls } from '../../support/service/operation-calls.ts';
import type { Answer } from '../../support/service/service.ts';
import { type Caller, makeCallers } from './callers.ts';
import { checkAllowed, checkRefusal } from './checker.ts';
import { type Fixture, makeFixture, type Place } from './fixture.ts';
import { acting, expectedAnswer, type Target } from './model.ts';
import { targetsOf } from './targets.ts';

interface MatrixRun {
  cells: number;
  /** Number of allowed cells. */
  opened: number;
  callers: number;
  /** Violations. */
  wrong: string[];
}

export interface MatrixOptions {
  /** Tries one of this many cells. Default: 1, all. */
  oneOf?: number;
  /** Only these operations. */
  only?: readonly string[];
}

/** An operation. Reads are also sent as HEAD. */
type Row = [id: string, operation: Operation, method: string];

function rows(only: readonly string[] | undefined): Row[] {
  const all = Object.entries<Operation>(operations).filter(
    // A claim and a login request belong to no tenant.
    ([id, { path }]) => !/\/:claim|^\/v1\/logins\/:code/.test(path) && (!only || only.includes(id)),
  );
  return all.flatMap(([id, operation]): Row[] => [
    [id, operation, operation.method],
    ...(operation.method === 'GET' ? [[id, operation, 'HEAD'] as Row] : []),
  ]);
}

const requestId = 'matrix';

class Matrix {
  readonly run: MatrixRun = { cells: 0, opened: 0, callers: 0, wrong: [] };
  readonly #service: Assembled;
  readonly #fixtureRows: Fixture;
  readonly #calls: Record<'home' | 'foreign', ReturnType<typeof operationCalls>>;

  constructor(service: Assembled, fixtureRows: Fixture) {
    this.#service = service;
    this.#fixtureRows = fixtureRows;
    const calls = (of: 'home' | 'foreign', { tenantId }: Place) =>
      operationCalls(service, fixtureRows.masters[of], tenantId);
    this.#calls = {
      home: calls('home', fixtureRows.inside),
      foreign: calls('foreign', fixtureRows.foreign),
    };
  }

  #callsAt(place: Place | undefined) {
    return this.#calls[place?.name === 'foreign' ? 'foreign' : 'home'];
  }

  /** Returns a valid body that names the target, or an unknown id. */
  bodyFor(operation: Operation, { place }: Target): Promise<unknown> {
    const where = place
      ? { venueId: place.venueId, screenId: place.spareId }
      : { venueId: unknownId, screenId: unknownId };
    return this.#callsAt(place).bodyOf(operation, where);
  }

  /** Creates a record that an allowed call may change. */
  async #expendable(
    { access, method, record }: Operation,
    { who }: Caller,
    { place, id }: Target,
  ): Promise<string> {
    if (!record || access === 'device' || method === 'GET' || !place) return id;
    if (record === 'tenant')
      return access === 'platform'
        ? (await this.#fixtureRows.platform.tenant(`Made ${crypto.randomUUID()}`)).id
        : id;
    const isBound = who.kind === 'token' && who.venueId !== undefined;
    return this.#callsAt(place).make[record](
      record === 'venue' && !isBound ? undefined : place.venueId,
    );
  }

  /** Tries one cell. Returns the refusal as text, if any. */
  async cell(
    [id, operation, method]: Row,
    caller: Caller,
    target: Target,
    members: readonly string[],
  ): Promise<string | undefined> {
    const { inside, foreign } = this.#fixtureRows;
    const known = [inside.tenantId, foreign.tenantId];
    const expected = expectedAnswer(operation, caller.who, target, members, known);
    const isOpen = expected === 'open';
    const path = operation.path.replace(
      /:(id|name|code|claim)/,
      isOpen ? await this.#expendable(operation, caller, target) : target.id,
    );
    const body = await this.bodyFor(operation, target);
    // One address has more requests than its limit: after a minute, the oldest gives way.
    if (operation.path === '/devices/claims') this.#service.clock.advance(2 * secondMs);
    if (operation.path === '/v1/logins') this.#service.clock.advance(20 * secondMs);
    const before = this.#service.changes.length;
    const headers = { ...caller.headers, 'X-Request-Id': requestId };
    const answer = await this.#service.send(
      method,
      path,
      body === undefined || method === 'HEAD' ? { headers } : { headers, body },
    );
    const changes = this.#service.changes.slice(before);
    // Without credentials, the record determines the tenant.
    const speaker =
      operation.access !== 'public' && caller.who.kind === 'token' ? caller.who : undefined;
    // The tenant in the path is changed, whichever the header of a platform token names.
    const isOfPath =
      speaker === undefined || (operation.record === 'tenant' && operation.access !== 'platform');
    const tenant = isOfPath ? (target.place ?? inside).tenantId : acting(operation, speaker, known);
    const complaints = isOpen
      ? checkAllowed({
          id,
          operation,
          answer,
          changes,
          who: caller.who,
          fixtureRows: this.#fixtureRows,
          tenantId: tenant as string | null,
        })
      : checkRefusal({ answer, changes, expected, requestId, isHead: method === 'HEAD' });
    this.run.cells++;
    if (isOpen) this.run.opened++;
    this.#complain(`${caller.name}: ${method} ${operation.path} ${target.name}`, complaints);
    return isOpen ? undefined : `${expected} ${bytesOf(answer)}`;
  }

  #complain(cell: string, complaints: readonly string[]): void {
    this.run.wrong.push(...complaints.map((complaint) => `${cell}: ${complaint}`));
  }

  /** All refusals of one caller with the same code must be byte-identical. */
  compare([, { path }, method]: Row, { name }: Caller, refusals: readonly string[]): void {
    const codes = new Set(refusals.map((refusal) => refusal.split(' ', 1)[0]));
    const kinds = new Set(refusals);
    if (kinds.size > codes.size)
      this.#complain(`${name}: ${method} ${path}`, [
        'the refusals differ, and so tell records apart',
      ]);
  }
}

function bytesOf({ status, headers, text }: Answer): string {
  const lines = [...headers]
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => `${name}: ${value}`);
  return [status, ...lines.toSorted(), text].join('\n');
}

/**
 * Tries every operation, kind of caller and record, and checks each answer (docs/protocol.md
 * §1.3).
 */
export async function runMatrix(
  service: Assembled,
  { oneOf = 1, only }: MatrixOptions = {},
): Promise<MatrixRun> {
  const fixtureRows = await makeFixture(service);
  const callers = await makeCallers(fixtureRows);
  const matrix = new Matrix(service, fixtureRows);
  let turn = 0;
  for (const row of rows(only)) {
    const [, operation] = row;
    const sample = await matrix.bodyFor(operation, {
      name: 'a sample',
      place: fixtureRows.inside,
      id: '',
    });
    const members = Object.keys(sample ?? {});
    for (const caller of callers) {
      const refusals: string[] = [];
      for (const target of targetsOf(operation, members, fixtureRows)) {
        if (turn++ % oneOf !== 0) continue;
        const refusal = await matrix.cell(row, caller, target, members);
        if (refusal !== undefined) refusals.push(refusal);
      }
      matrix.compare(row, caller, refusals);
    }
  }
  return { ...matrix.run, callers: callers.length };
}
