import { randomBytes } from 'node:crypto';
import { interrupted } from '../client/interrupted.ts';
import type { MakeRequester } from '../client/requester.ts';
import { type Exchanged, serviceAddress } from '../client/transport.ts';
import { type Clock, type Random, systemClock } from '../domain/clock.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import { allChecks } from './all-checks.ts';
import type { Check, Level, Need, Outcome, Seen } from './check.ts';
import { Cleanup } from './cleanup.ts';
import { Fixture } from './fixture.ts';
import { type Manager, readRights, reasonToSkip } from './rights.ts';
import { makeSend } from './send.ts';

export interface ConformanceOptions extends Manager {
  certificates?: readonly string[] | undefined;
  makeRequester: MakeRequester;
  /** Told of each request once it is over. */
  onExchange?: ((exchange: Exchanged) => void) | undefined;
  /** Rows of this level only. */
  only?: Level | undefined;
  /** Rows whose id begins with one of these; all unless given. */
  ids?: readonly string[];
  /** What the rows may do beside the usual: wait for a code to expire, be locked out for guessing, make a second tenant. */
  allow?: readonly Need[];
  clock?: Clock;
  random?: Random;
  signal?: AbortSignal | undefined;
  /** Told before each row: how many are over, of how many. */
  onProgress?(done: number, of: number): void;
  /** Told at the end of what could not be removed, and why. */
  onLeft?(left: readonly string[]): void;
}

const timeoutMs = 35_000;
const longestSeen = 400;

/** Keys, tokens and pairing codes stay out of what is shown, and nobody reads whole bodies in a table. */
function shown(text: string): string {
  const masked = text
    .replaceAll(/\b([dm]ak_)[0-9A-Za-z]+/g, '$1…')
    .replaceAll(/(\/provisioning-codes\/)[^/?\s]+/g, '$1…');
  return masked.length > longestSeen ? `${masked.slice(0, longestSeen)}…` : masked;
}

function outcomeOf({ id, level, section, title, expected }: Check, seen: Seen): Outcome {
  const complaints = typeof seen === 'string' ? seen : seen.join('; ');
  const holds = typeof seen === 'string' ? seen === expected : seen.length === 0;
  return {
    id,
    level,
    section,
    title,
    expected,
    result: holds ? 'pass' : 'fail',
    seen: holds ? expected : shown(complaints),
    reason: null,
  };
}

const skipped = ({ id, level, section, title, expected }: Check, reason: string): Outcome => ({
  ...{ id, level, section, title, expected, reason },
  result: 'skip',
  seen: null,
});

/** Looks at one row. A row whose preparation fails is not kept; only an interruption, and a service that is gone, end the run. */
async function outcome(
  row: Check,
  stage: Fixture,
  isThere: () => Promise<unknown>,
): Promise<Outcome> {
  try {
    return outcomeOf(row, await row.look(stage));
  } catch (error) {
    if (hasCode(error, 'interrupted')) throw error;
    if (hasCode(error, 'skipped')) return skipped(row, error.message);
    if (hasCode(error, 'unreachable')) await isThere();
    return outcomeOf(row, [(error as Error).message]);
  }
}

/** Throws `invalid_option` when there are none. */
function chosen({ only, ids = [] }: ConformanceOptions): Check[] {
  const rows = allChecks.filter(
    ({ level, id }) =>
      (only ?? level) === level && (ids.length === 0 || ids.some((one) => id.startsWith(one))),
  );
  if (rows.length > 0) return rows;
  throw new SignageError(
    'invalid_option',
    `No ${only ?? ''} row has an id that begins with ${ids.join(' or ')}.`.replace('  ', ' '),
  );
}

/**
 * Runs the rows against a deployment, one after another, and yields what became of each. All that is made for them stands in venues of its own
 * and is removed at the end, also when the run is broken off. Throws `unreachable`, `interrupted`, and what the service says of the token.
 */
export async function* runConformance(options: ConformanceOptions): AsyncGenerator<Outcome> {
  const { clock = systemClock, random = randomBytes, allow = [], signal } = options;
  const connection = {
    service: serviceAddress(options.url),
    makeRequester: options.makeRequester,
    certificates: options.certificates,
    onExchange: options.onExchange,
    clock,
    timeoutMs,
  };
  const [send, sendToTheEnd] = [makeSend({ ...connection, signal }), makeSend(connection)];
  const rows = chosen(options);
  const rights = await readRights(send, options);
  const traces = new Cleanup();
  const name = `Conformance ${Buffer.from(random(4)).toString('hex')}`;
  const stage = new Fixture({
    send,
    traces,
    token: options.token,
    tenantId: rights.tenantId,
    name,
    clock,
    random,
    signal,
  });
  const isThere = () => readRights(send, { ...options, tenantId: rights.tenantId });
  try {
    for (const [at, row] of rows.entries()) {
      options.onProgress?.(at, rows.length);
      if (signal?.aborted) throw interrupted();
      const reason = reasonToSkip(row, rights, allow);
      yield reason === undefined ? await outcome(row, stage, isThere) : skipped(row, reason);
    }
  } finally {
    const left = await traces.remove(sendToTheEnd, options.token);
    if (left.length > 0) options.onLeft?.(left);
  }
}
