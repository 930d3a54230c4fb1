import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ExaminedTv } from '../../exam/examined-tv.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freePort } from '../../support/network/free-port.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { runCli } from '../run-cli.ts';

const speed = 30;

const shownCode =
  /code ([A-Z2-9]{4})-([A-Z2-9]{4}) on the TV\.\nService address for the TV: (\S+)/g;

/** Runs the command, and enters each code that it shows at a TV. Calls `onCode` with each code. */
async function examine(
  argv: readonly string[],
  onCode: (code: string, url: string) => void = () => {},
  terminal: { tty?: boolean; columns?: number } = {},
) {
  const tv = new ExaminedTv(speed);
  let hasEnded = false;
  const enterCodes = async (io: FakeIo) => {
    for (let entered = 0; !hasEnded; ) {
      const shown = [...io.err().matchAll(shownCode)];
      for (const [, one = '', other = '', url = ''] of shown.slice(entered)) {
        tv.onCode(one + other, url);
        onCode(one + other, url);
      }
      entered = shown.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const listen = `127.0.0.1:${await freePort()}`;
  const common = ['conformance', '--tv', '--quick', '--speed', String(speed), '--listen', listen];
  const run = await runCli([...common, ...argv], { during: enterCodes, ...terminal });
  hasEnded = true;
  await tv.off();
  return run;
}

// The exams wait most of their time, so they run side by side.
describe.concurrent('signage conformance --tv', () => {
  it('0 when no row failed, with the rows, the steps and a line for a README', async () => {
    const { code, json, stderr } = await examine(['--part', 'revoke', '-o', 'json']);
    expect(stderr).toContain('register: The TV waits for its pairing code');
    expect(stderr).toContain('revoke: The TV is revoked.');
    expect(stderr).toMatch(
      /signage TV exam \(quick\): (\d+) of \1 must, (\d) of \2 should, \d+ not judged\n$/,
    );
    expect(json).toContainEqual({
      id: 'tv.register.repeats-lost-answer',
      level: 'must',
      section: '3.2',
      title: 'The TV repeats an unanswered registration with the same Idempotency-Key',
      expected: 'a registration with the same code and the same Idempotency-Key',
      result: 'pass',
      applies: true,
      seen: expect.stringMatching(/^Repeated after /),
      advice: expect.stringContaining('Store the code with its Idempotency-Key'),
    });
    expect(json).toContainEqual(
      expect.objectContaining({
        id: 'tv.network.plays-on',
        result: 'skip',
        applies: false,
        seen: 'The part "network" was not chosen.',
      }),
    );
    expect(code).toBe(0);
  });

  it('9 when a row failed, with what was expected and what to do', async () => {
    const { code, stdout, stderr } = await examine(['--part', 'revoke'], (shown, url) => {
      // The first code is not yet in use, so its request is that of another device.
      void fetch(`${url}/devices/${shown}/config`);
      const body = JSON.stringify({ pairingCode: shown });
      const headers = { 'content-type': 'application/json' };
      void fetch(`${url}/devices/register`, { method: 'POST', headers, body });
    });
    expect(stderr).toMatch(
      /^0:\d\d The service refused registerDevice of the TV: 400 invalid_request\.$/m,
    );
    expect(code).toBe(9);
    expect(stdout).toMatch(
      /^✗ +tv\.http\.secret-not-in-url +must .*Expected: the key in the header Authorization/m,
    );
    expect(stdout).not.toMatch(/^✗ +tv\.revoke/m);
    expect(stderr).toMatch(/: \d+ of \d+ must/);
  });

  it('writes JUnit XML, with the reason of each skipped row', async () => {
    const { code, stdout } = await examine(['--part', 'revoke', '-o', 'junit']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuite name="signage" tests="\d+" failures="0" skipped="\d+">\n/,
    );
    expect(stdout).toContain(
      '<testcase classname="tv.revoke" name="tv.revoke.pairs-again: A revoked TV can be paired again"/>',
    );
    expect(stdout).toContain(
      '><skipped message="The part &quot;network&quot; was not chosen."/></testcase>',
    );
  });

  it('130 after Ctrl-C, with the rows so far', async () => {
    const { code, stdout, stderr } = await runCli(['conformance', '--tv', '--listen', '0'], {
      during: async (io) => {
        await io.until(/Enter the pairing code/);
        io.signal('SIGINT');
      },
    });
    expect(code).toBe(130);
    expect(stdout).toMatch(/^RESULT +ID +LEVEL +SECTION +TITLE +NOTE\n/);
    expect(stdout).toMatch(/^– +tv\.register\.valid-request +must +§3\.1 /m);
    expect(stderr).toContain('No TV registered.');
  });

  it('shows failed rows in full at a terminal, and counts the others', async () => {
    const { code, stdout, stderr } = await examine(
      ['--part', 'revoke'],
      (shown, url) => void fetch(`${url}/devices/${shown}/config`),
      { tty: true, columns: 80 },
    );
    expect([code, stdout]).toEqual([9, '']);
    const text = stderr.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/✗ tv\.http\.secret-not-in-url: .* Expected: the key in the header Auth/);
    expect(text).toMatch(/ \d+ other rows did not fail: -o table lists all rows\. /);
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('continues with --state, and refuses the state of another exam', async () => {
    const folder = join(await temporaryFolder(), 'exam');
    const argv = ['--part', 'revoke', '--state', folder];
    const first = await examine(argv);
    expect(first.code).toBe(0);
    const again = await examine(argv);
    expect(again.code).toBe(0);
    expect(again.stderr).not.toContain('Enter the pairing code');
    const full = await runCli(['conformance', '--tv', '--listen', '0', '--state', folder]);
    expect(full.code).toBe(2);
    expect(full.stderr).toContain('The saved exam is a quick exam');
    await writeFile(join(folder, 'exam.json'), '{"format":1', { mode: 0o600 });
    const damaged = await examine(argv);
    expect(damaged.code).toBe(6);
    expect(damaged.stderr).toContain('exam.json is damaged');
  });

  it('runs the program of --power-cmd with off and on, and 2 after the rows if it fails', async () => {
    const folder = await temporaryFolder();
    const program = join(folder, 'plug.sh');
    const log = join(folder, 'log');
    await writeFile(program, `#!/bin/sh\necho "$1" >> ${log}\ntest "$1" = off\n`);
    await chmod(program, 0o755);
    const { code, stdout, stderr } = await examine(['--part', 'power', '--power-cmd', program]);
    expect(code).toBe(2);
    expect(await readFile(log, 'utf8')).toBe('off\non\n');
    expect(stdout).toMatch(/^✓ +tv\.register\.uses-key /m);
    expect(stderr).toContain(`--power-cmd: ${program} on ended with exit code 1.`);
  });

  it('5 when another program listens there', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const { code, stderr } = await runCli(['conformance', '--tv', '--listen', String(port)]);
    server.close();
    expect(code).toBe(5);
    expect(stderr).toContain(`Another program listens on 127.0.0.1:${port}.`);
  });
});
