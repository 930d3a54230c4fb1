import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'vitest';
import { checkout } from '../support/signage-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startServed } from './served.ts';

const token = `mak_${'Startup'.repeat(4)}`;
const rounds = 25;
const signage = join(checkout, 'bin/signage.js');

/** What is started, and how many times as long as `node -e 0` it may take. */
const starts: readonly { argv: readonly string[]; mostTimes: number }[] = [
  { argv: ['--version'], mostTimes: 1.5 },
  { argv: ['--help'], mostTimes: 1.5 },
  { argv: ['venue', '--help'], mostTimes: 1.5 },
  { argv: ['venue', 'create', '--help'], mostTimes: 1.5 },
  { argv: ['completion', 'bash'], mostTimes: 1.5 },
  { argv: ['completion', 'bash', '--', 'signage venue '], mostTimes: 3 },
  { argv: ['completion', 'bash', '--', 'signage venue get '], mostTimes: 3 },
  { argv: ['context', 'list'], mostTimes: 3 },
  { argv: ['whoami'], mostTimes: 3 },
  { argv: ['venue', 'list'], mostTimes: 3 },
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

function spread(values: readonly number[]): { median: number; text: string } {
  const sorted = values.toSorted((a, b) => a - b);
  const [least = 0, median = 0, most = 0] = [
    sorted[0],
    sorted[Math.floor(sorted.length / 2)],
    sorted.at(-1),
  ];
  return { median, text: `${median.toFixed(0)} ms (${least.toFixed(0)}–${most.toFixed(0)})` };
}

it('how long commands take to start, against node -e 0', async () => {
  const served = await startServed(join(await temporaryFolder(), 'data'), token);
  const env = {
    SIGNAGE_URL: served.url,
    SIGNAGE_TOKEN: token,
    XDG_CONFIG_HOME: await temporaryFolder(),
  };
  const bare: number[] = [];
  const took = starts.map((): number[] => []);
  // One after another, round after round, so that what else the machine does falls on all alike.
  for (let round = -1; round < rounds; round++) {
    const bareMs = timed(['-e', '0'], env);
    const all = starts.map(({ argv }) => timed([signage, ...argv], env));
    if (round < 0) continue;
    bare.push(bareMs);
    for (const [at, ms] of all.entries()) took[at]?.push(ms);
  }
  const base = spread(bare);
  console.log(`node -e 0: ${base.text}`);
  for (const [at, { argv, mostTimes }] of starts.entries()) {
    const { median, text } = spread(took[at] ?? []);
    const times = median / base.median;
    const verdict = times <= mostTimes ? 'within' : 'OVER';
    console.log(
      `signage ${argv.join(' ')}: ${times.toFixed(2)}×, ${text}; ${verdict} the bar of ${mostTimes}×`,
    );
  }
  await served.stop();
});
