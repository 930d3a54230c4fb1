import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout } from '../support/process/signage-process.ts';
import { median, summary } from './measure.ts';
import { startServed } from './served.ts';

const token = `mak_${'Startup'.repeat(4)}`;
const rounds = 25;
const signage = join(checkout, 'bin/signage.js');

/** Commands, and the longest time that each may take, as a multiple of `node -e 0`. */
const starts: readonly { argv: readonly string[]; bar: number }[] = [
  { argv: ['--version'], bar: 1.5 },
  { argv: ['--help'], bar: 1.5 },
  { argv: ['venue', 'list'], bar: 3 },
];

function timed(argv: readonly string[], env: Record<string, string>): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, argv, {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  });
  const tookMs = performance.now() - start;
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  return tookMs;
}

it('start of commands, as a multiple of node -e 0', async () => {
  const served = await startServed(join(await temporaryFolder(), 'data'), token);
  const env = {
    SIGNAGE_URL: served.url,
    SIGNAGE_TOKEN: token,
    XDG_CONFIG_HOME: await temporaryFolder(),
  };
  const bare: number[] = [];
  const took = starts.map((): number[] => []);
  // They alternate, so that other programs disturb all alike.
  for (let round = -1; round < rounds; round++) {
    const bareMs = timed(['-e', '0'], env);
    const all = starts.map(({ argv }) => timed([signage, ...argv], env));
    if (round < 0) continue;
    bare.push(bareMs);
    for (const [at, ms] of all.entries()) took[at]?.push(ms);
  }
  console.log(`node -e 0: ${summary(bare)} ms`);
  for (const [at, { argv, bar }] of starts.entries()) {
    const durations = took[at] ?? [];
    const times = median(durations) / median(bare);
    const verdict = times <= bar ? 'met' : 'MISSED';
    console.log(
      `signage ${argv.join(' ')}: ${times.toFixed(2)}× (bar: ${bar}×, ${verdict}), ${summary(durations)} ms`,
    );
  }
  await served.stop();
});
