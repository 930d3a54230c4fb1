import { describe, expect, it } from 'vitest';
import type { FakeIo } from '../../support/fake-io.ts';
import { runCli } from '../run-cli.ts';

const token = 'mak_abcdefghijklmnopqrstuvwxyz';
const serve = (
  argv: readonly string[],
  during?: (io: FakeIo) => Promise<void>,
  env: Record<string, string> = {},
) =>
  runCli(['serve', '--port', '0', '--store', 'memory', ...argv], {
    env: { SIGNAGE_ADMIN_TOKEN: token, ...env },
    ...(during && { during }),
  });

/** Requests the health of the running service, then stops it. */
function health(into: (string | null)[]) {
  return async (io: FakeIo) => {
    const url = await io.until(/http:\/\/127\.0\.0\.1:\d+/);
    await io.until(/Try: /);
    into.push((await fetch(`${url}/healthz`)).headers.get('x-signage-fault'));
    io.signal('SIGTERM');
  };
}

describe('signage serve --fault', () => {
  it('injects the faults, and logs each rule on stderr', async () => {
    const seen: (string | null)[] = [];
    const { code, stdout, stderr } = await serve(
      ['--fault', 'GET /healthz=503', '--fault', '*=delay 0s-1ms'],
      health(seen),
    );
    expect(code).toBe(0);
    expect(seen).toEqual(['GET /healthz=503, *=delay 0s-1ms']);
    const warnings = stderr.split('\n').filter((line) => line.includes('misbehaves on purpose'));
    expect(warnings).toEqual([
      expect.stringContaining('GET /healthz=503'),
      expect.stringContaining('*=delay 0s-1ms'),
    ]);
    expect(stdout).not.toContain('misbehaves');
  });

  it('has no environment variable', async () => {
    const seen: (string | null)[] = [];
    const { stderr } = await serve([], health(seen), {
      SIGNAGE_FAULT: '*=503',
      SIGNAGE_FAULTS: '*=503',
    });
    expect(seen).toEqual([null]);
    expect(stderr).not.toContain('misbehaves');
  });

  it('2 for an invalid rule, with the position and the valid words', async () => {
    const { code, stdout, stderr } = await serve([
      '--fault',
      'GET /devices/*/playlist=500:sometimes',
    ]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(
      '"sometimes" (character 29) is not understood: use 10%, every 3 or first 5',
    );
  });
});
