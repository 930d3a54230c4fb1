import { expect, it } from 'vitest';
import { json, problem, stubService } from '../../support/network/stub-service.ts';
import { adminToken } from '../../support/service/service.ts';
import { type CliOptions, runCli } from '../run-cli.ts';

const busy = (seconds: number) =>
  problem(503, 'unavailable', 'Busy.', {}, { 'retry-after': String(seconds) });
const nothing = json(200, { items: [], nextCursor: null });

async function list(url: string, options: CliOptions = {}, ...more: string[]) {
  return runCli(['venue', 'list', ...more], {
    ...options,
    env: { SIGNAGE_URL: url, SIGNAGE_TOKEN: adminToken, CI: '1', ...options.env },
  });
}

it.concurrent('shows a command that waits for its service, with the attempt, and erases the line', async () => {
  const stub = await stubService(busy(3), nothing);
  const { code, stderr } = await list(stub.url, { tty: true });
  expect(code).toBe(0);
  expect(stderr).toContain(`${stub.url} answered 503. Attempt 2 of 4 in 1 s; Ctrl-C stops.`);
  expect(stderr).toContain('stops.\r\u001b[K');
});

it.concurrent('shows nothing for a short wait, without a terminal, or with --quiet', async () => {
  const short = await stubService(busy(1), nothing);
  expect((await list(short.url, { tty: true })).stderr).not.toContain('Attempt');
  const [piped, quiet] = [await stubService(busy(3), nothing), await stubService(busy(3), nothing)];
  const runs = await Promise.all([list(piped.url), list(quiet.url, { tty: true }, '--quiet')]);
  for (const { code, stderr } of runs) {
    expect(code).toBe(0);
    expect(stderr).not.toContain('Attempt');
  }
});

it.concurrent('130 when Ctrl-C ends the wait', async () => {
  const stub = await stubService(busy(30));
  const { code, stderr } = await list(stub.url, {
    tty: true,
    async during(io) {
      await io.until(/Attempt 2 of 4 in \d+ s; Ctrl-C stops/);
      io.signal('SIGINT');
    },
  });
  expect(code).toBe(130);
  expect(stderr.endsWith('\r\u001b[K')).toBe(true);
});
