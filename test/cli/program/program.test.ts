import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { version: string };

async function run(...argv: string[]) {
  const io = fakeIo();
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err(), io };
}

describe('signage', () => {
  it.each(['--version', '-V'])('%s prints only the version', async (flag) => {
    expect(await run(flag)).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
  });

  it.each([['--help'], ['-h'], ['help']])('%s shows the commands on stdout', async (flag) => {
    const { code, out, err } = await run(flag);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/serve .*Run the service/);
    expect(out).toMatch(/simulate .*simulated TVs/);
  });

  it('without a command lists the commands on stderr, and ends with 2', async () => {
    const { code, out, err } = await run();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: signage');
  });

  it('removes its signal handlers at the end', async () => {
    const { io } = await run('--help');
    expect([io.signal('SIGINT'), io.signal('SIGTERM'), io.signal('SIGHUP')]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('signage serve --help', () => {
  it('shows every setting with its default and environment variable', async () => {
    const { code, out } = await run('serve', '--help');
    expect(code).toBe(0);
    const text = out.replaceAll(/\s+/g, ' ');
    expect(text).toContain(
      '--port <number> port to listen on; 0 takes any free port (default: 4100, env: SIGNAGE_PORT)',
    );
    for (const flag of [
      'host',
      'data',
      'store',
      'log-level',
      'log-format',
      'code-ttl-minutes',
      'retention-days',
      'trust-proxy',
      'cors-origin',
    ]) {
      expect(text).toMatch(
        new RegExp(`--${flag} .*env: SIGNAGE_${flag.toUpperCase().replaceAll('-', '_')}\\)`),
      );
    }
    for (const flag of ['tls-cert', 'tls-key', 'metrics-token', 'metrics-token-file', 'demo'])
      expect(text).toContain(`--${flag} `);
  });
});
