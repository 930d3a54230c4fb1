import { randomBytes } from 'node:crypto';
import { makeNodeRequester } from '../client/node-requester.ts';
import { interrupted } from '../client/pause.ts';
import { serviceAddress } from '../client/transport.ts';
import { randomHex, systemClock } from '../domain/clock.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import { checkOptions } from '../options/check-options.ts';
import { allChecks } from './all-checks.ts';
import { type Answer, statusAndCode, statusAndPaths } from './fixture/answer.ts';
import type { ConformanceCheck, Level, Outcome } from './fixture/check.ts';
import { Cleanup } from './fixture/cleanup.ts';
import { Fixture } from './fixture/fixture.ts';
import { makeSend } from './fixture/send.ts';
import { type ConformanceOptions, conformanceRules } from './options.ts';
import { readRights, reasonToSkip } from './rights.ts';

const timeoutMs = 35_000;
const maxSeenLength = 400;

/** Masks keys, tokens, and pairing codes in paths. Truncates long texts. */
function mask(text: string): string {
  const masked = text
    .replaceAll(/\b((?:dak|mak|clm|lgn|whsec)_)[0-9A-Za-z+/=]+/g, '$1…')
    .replaceAll(/(\/provisioning-codes\/)[^/?\s]+/g, '$1…');
  return masked.length > maxSeenLength ? `${masked.slice(0, maxSeenLength)}…` : masked;
}

function outcomeOf(
  { id, level, section, title, expected }: ConformanceCheck,
  found: Pick<Outcome, 'result' | 'seen' | 'reason'>,
): Outcome {
  return { id, level, section, title, expected, ...found };
}

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;

/**
 * Describes a response in as much detail as the expected text. The service document defines no
 * error codes, so a required check compares only the status, or its first digit.
 */
function describeAnswer(answer: Answer, level: Level, expected: string): string {
  const { status } = answer;
  if (expected === 'accepted (2xx)' && status >= 200 && status < 300) return expected;
  if (expected === 'refused (4xx)' && status >= 400 && status < 500) return expected;
  if (expected.endsWith('xx)')) return statusAndCode(answer);
  if (level === 'required') return String(status);
  return expected.includes(' at ') ? statusAndPaths(answer) : statusAndCode(answer);
}

function judge(check: ConformanceCheck, seen: unknown): Outcome {
  const { level, expected } = check;
  const texts = [seen]
    .flat()
    .map((one) => (isAnswer(one) ? describeAnswer(one, level, expected) : String(one)));
  const observed = texts.join(', ');
  return observed === expected
    ? outcomeOf(check, { result: 'pass', seen: expected, reason: null })
    : outcomeOf(check, { result: 'fail', seen: mask(observed), reason: null });
}

const skipped = (check: ConformanceCheck, reason: string): Outcome =>
  outcomeOf(check, { result: 'skip', seen: null, reason });

/**
 * Runs one check. If its setup fails, the check has failed. Only an interruption or an unreachable
 * service ends the run.
 */
async function runCheck(
  check: ConformanceCheck,
  fixture: Fixture,
  confirmReachable: () => Promise<unknown>,
): Promise<Outcome> {
  try {
    return judge(check, await check.run(fixture));
  } catch (error) {
    if (hasCode(error, 'interrupted')) throw error;
    if (hasCode(error, 'skipped')) return skipped(check, error.message);
    if (hasCode(error, 'unreachable')) await confirmReachable();
    const seen = mask((error as Error).message);
    return outcomeOf(check, { result: 'fail', seen, reason: null });
  }
}

/** Selects the checks to run. Throws `invalid_option` if there are none. */
function selectChecks({ only, ids = [] }: ConformanceOptions): ConformanceCheck[] {
  const checks = allChecks.filter(
    ({ level, id }) =>
      (only ?? level) === level && (ids.length === 0 || ids.some((one) => id.startsWith(one))),
  );
  if (checks.length > 0) return checks;
  throw new SignageError(
    'invalid_option',
    `No ${only ?? ''} check has an id that begins with ${ids.join(' or ')}.`.replace('  ', ' '),
  );
}

/**
 * Runs the checks against a deployment, one after another, and yields their outcomes. Creates its
 * own records, and deletes them at the end, also after an interruption. Throws `invalid_option`,
 * `unreachable`, `interrupted` and the service's errors for the token.
 */
export async function* runConformance(options: ConformanceOptions): AsyncGenerator<Outcome> {
  checkOptions(conformanceRules, options);
  const { clock = systemClock, random = randomBytes, allow = [], signal } = options;
  const connection = {
    service: serviceAddress(options.url),
    makeRequester: options.makeRequester ?? makeNodeRequester,
    certificates: options.certificates,
    onExchange: options.onExchange,
    clock,
    timeoutMs,
  };
  const send = makeSend({ ...connection, signal });
  const sendUninterrupted = makeSend(connection);
  const checks = selectChecks(options);
  const rights = await readRights(send, options);
  const cleanup = new Cleanup(rights.tenantId);
  const name = `Conformance ${randomHex(random, 4)}`;
  const fixture = new Fixture({
    send,
    cleanup,
    token: options.token,
    tenantId: rights.tenantId,
    name,
    clock,
    random,
    signal,
  });
  const confirmReachable = () => readRights(send, { ...options, tenantId: rights.tenantId });
  try {
    for (const [index, check] of checks.entries()) {
      options.onProgress?.(index, checks.length);
      if (signal?.aborted) throw interrupted(signal);
      const reason = reasonToSkip(check, rights, allow);
      yield reason === undefined
        ? await runCheck(check, fixture, confirmReachable)
        : skipped(check, reason);
    }
  } finally {
    const remaining = await cleanup.remove(sendUninterrupted, options.token);
    if (remaining.length > 0) options.onLeft?.(remaining);
  }
}
