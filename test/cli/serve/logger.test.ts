import { describe, expect, it } from 'vitest';
import { type LogOptions, makeLogger } from '../../../src/cli/commands/serve/logger.ts';
import { escapedIo } from '../../../src/cli/terminal/io.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

const clock = { ...systemClock, now: () => Date.UTC(2026, 10, 20, 12, 0, 5) };

async function logOf(
  options: Partial<LogOptions>,
  isTTY = false,
  env: Record<string, string> = {},
) {
  const io = fakeIo({ isTTY, env });
  const defaults = { io: escapedIo(io), clock, level: 'info', format: 'auto' } as const;
  return { io, log: await makeLogger({ ...defaults, ...options }) };
}

describe('json', () => {
  it('is one object a line, on stderr', async () => {
    const { io, log } = await logOf({});
    log.info({ url: 'http://x' }, 'Ready.');
    log.warn({ err: new Error('odd') }, 'Look\nhere');
    const lines = io
      .err()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { level: 'info', time: '2026-11-20T12:00:05.000Z', url: 'http://x', msg: 'Ready.' },
      { level: 'warn', msg: 'Look\nhere', err: { message: 'odd' } },
    ]);
    expect(io.out()).toBe('');
  });

  it('has the code of an error, its causes, and the errors in it', async () => {
    const { io, log } = await logOf({});
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', socket: {} });
    refused.cause = refused;
    const err = new TypeError('odd', { cause: new AggregateError([refused], 'all failed') });
    log.error({ err, cause: err.cause, count: 1n }, 'Failed.');
    const line = JSON.parse(io.err());
    expect(line).toMatchObject({
      err: { type: 'TypeError', message: 'odd: all failed' },
      cause: { aggregateErrors: [{ type: 'Error', code: 'ECONNREFUSED' }] },
      count: '1',
    });
    expect(line.err.stack).toMatch(/^TypeError: odd\n.*\ncaused by: AggregateError: all failed\n/s);
    expect(line.cause.aggregateErrors[0]).not.toHaveProperty('socket');
  });

  it('is the default without a terminal, and not at a terminal', async () => {
    const terminal = await logOf({}, true);
    terminal.log.info({}, 'Ready.');
    expect(terminal.io.err()).not.toContain('{');
  });
});

describe('pretty', () => {
  it('writes lines for people, with control characters escaped', async () => {
    const { io, log } = await logOf({ format: 'pretty' });
    log.error(
      { source: 'a\u001b[2Jb', n: 3, err: new Error('odd', { cause: new Error('deep') }) },
      'Look\nhere',
    );
    expect(io.err()).toMatch(
      /^\d\d:00:05 error Look\\u000ahere {2}source=a\\u001b\[2Jb {2}n=3 {2}err=odd \(deep\)\n$/,
    );
  });

  it('has colours on a terminal, unless NO_COLOR is set', async () => {
    const plain = await logOf({}, true, { NO_COLOR: '1' });
    plain.log.warn({}, 'x');
    const coloured = await logOf({}, true);
    coloured.log.warn({}, 'x');
    expect(plain.io.err()).not.toContain('\u001b');
    expect(coloured.io.err()).toContain('\u001b[33m');
  });
});

describe.each(['pretty', 'json'] as const)('%s', (format) => {
  it.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
    ['silent', 0],
  ] as const)('at level %s has %i of four lines', async (level, count) => {
    const { io, log } = await logOf({ format, level });
    for (const at of ['debug', 'info', 'warn', 'error'] as const) log[at]({}, at);
    expect(io.err().split('\n').length - 1).toBe(count);
  });
});
