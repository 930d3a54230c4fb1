import { runCli } from '../../cli/run-cli.ts';
import { hostileId, hostileService, obeyed } from '../../support/network/hostile-service.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';

const commands: readonly (readonly string[])[] = [
  ['screen', 'list'],
  ['device', 'get', hostileId],
  ['token', 'list', '-o', 'json'],
  ['audit', 'list', '-o', 'csv'],
  ['tenant', 'get', hostileId, '-o', 'yaml'],
];

/** Runs commands on hostile records. Returns those that print control characters. */
export async function obeyedOutput(around: (io: FakeIo) => FakeIo = (io) => io): Promise<string[]> {
  const { url, close } = await hostileService();
  const found: string[] = [];
  for (const argv of commands) {
    const { stdout, stderr } = await runCli(argv, {
      env: { SIGNAGE_URL: url, SIGNAGE_TOKEN: 'mak_x' },
      around,
    });
    if (obeyed.test(stdout) || obeyed.test(stderr))
      found.push(`signage ${argv.join(' ')} prints control characters`);
  }
  await close();
  return found;
}
