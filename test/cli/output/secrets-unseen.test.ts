// --verbose, notes and errors must not show pairing codes and tokens.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { problem, stubService } from '../../support/network/stub-service.ts';
import { adminToken, type TestService } from '../../support/service/service.ts';
import { type Cli, runCli, startCli } from '../run-cli.ts';

let cli: Cli;
let service: TestService<Clock>;
beforeAll(async () => {
  ({ cli, service } = await startCli());
});

/** All spellings of a code. */
const spellings = (code: string) => {
  const first = code.slice(0, 4);
  const second = code.slice(4);
  return new RegExp(`${first}[^A-Z0-9]{0,3}${second}`, 'i');
};

describe('--verbose', () => {
  it('shows each request of code create, status and cancel without the code', async () => {
    const { id } = await service.screen();
    const made = await cli(['code', 'create', id, '--verbose', '-o', 'json']);
    const { code } = made.json;
    expect(made.stderr).toMatch(/POST \/v1\/devices\/provisioning-codes → 201 \(\d+ ms\)/);
    const asked = await cli(['code', 'status', code.toLowerCase(), '--verbose', '-o', 'json']);
    expect(asked.stderr).toMatch(/GET \/v1\/devices\/provisioning-codes\/…\/status → 200/);
    const waited = await cli(['code', 'status', code, '--wait', '--timeout', '1s', '--verbose']);
    expect(waited.stderr).toMatch(
      /GET \/v1\/devices\/provisioning-codes\/…\/status\?waitSeconds=1 → 200/,
    );
    const cancelled = await cli(['code', 'cancel', code, '--verbose']);
    expect(cancelled.stderr).toMatch(/DELETE \/v1\/devices\/provisioning-codes\/… → 204/);
    const again = await cli(['code', 'cancel', code, '--verbose', '-o', 'json']);
    expect(again.code).toBe(5);
    const unknown = await cli(['code', 'status', 'ZZZZ2222', '--verbose']);
    for (const { stderr } of [made, asked, waited, cancelled, again, unknown]) {
      expect(stderr).not.toMatch(spellings(code));
      expect(stderr).not.toMatch(spellings('ZZZZ2222'));
      expect(stderr).not.toContain('mak_');
    }
  });

  it.each([
    [['token', 'create', '--name', 'Verbose', '--role', 'viewer', '-o', 'json']],
    [['token', 'list', '-o', 'json']],
    [['api', 'GET', '/v1/me?x=mak_0123456789012345678901234567890123456789']],
    [['api', 'GET', '/v1/devices/provisioning-codes/ABCD2345/status']],
    [['api', 'GET', '/v1/devices/%70rovisioning-codes%2fABCD2345']],
  ])('of %j shows no token, key or code', async (args) => {
    const { stderr } = await cli([...args, '--verbose']);
    expect(stderr).toMatch(/→ \d+ \(\d+ ms\)/);
    expect(stderr).not.toContain(adminToken);
    expect(stderr).not.toMatch(/[dm]ak_[0-9A-Za-z]|ABCD2345/);
  });

  it('shows no code when the service is unreachable or a request is retried', async () => {
    const stub = await stubService(
      problem(503, 'unavailable', 'Later.', {}, { 'retry-after': '0' }),
    );
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken };
    const busy = await runCli(['code', 'status', 'ABCD2345', '--verbose'], { env });
    await stub.close();
    const gone = await runCli(['code', 'status', 'ABCD2345', '--verbose'], { env });
    for (const { code, stderr } of [busy, gone]) {
      expect(code).toBe(7);
      expect(stderr).not.toMatch(spellings('ABCD2345'));
      expect(stderr).not.toContain(adminToken);
    }
  });
});

describe('secrets in errors', () => {
  it('masks a token that the service repeats in its error', async () => {
    const stub = await stubService(problem(409, 'name_taken', `The token ${adminToken} is taken.`));
    const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: adminToken };
    for (const form of ['table', 'json']) {
      const { code, stderr } = await runCli(
        ['token', 'create', '--name', 'x', '--role', 'viewer', '-o', form],
        { env },
      );
      expect(code).toBe(5);
      expect(stderr).not.toContain(adminToken);
    }
  });

  it('no secret must be on the command line: codes come from stdin, tokens go to files', async () => {
    const { code } = await service.code();
    expect((await cli(['code', 'status', '-', '-o', 'json'], { stdin: code })).json.status).toBe(
      'pending',
    );
    const file = `${await temporaryFolder()}/token`;
    expect(
      (await cli(['token', 'create', '--name', 'Filed', '--role', 'viewer', '--output-file', file]))
        .code,
    ).toBe(0);
    expect(
      (await cli(['screen', 'list', '--token-file', file], { env: { SIGNAGE_TOKEN: '' } })).code,
    ).toBe(0);
  });
});
