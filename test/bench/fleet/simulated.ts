import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetReport } from '../../../src/simulator/fleet/report.ts';
import { startProcess } from '../../support/process/signage-process.ts';

const pollMs = 500;

/** Starts `signage simulate` against a service, in a process of its own. */
export function startSimulated(
  service: { url: string; token: string; configHome: string },
  argv: readonly string[],
) {
  const { url, token, configHome } = service;
  const env = { SIGNAGE_URL: url, SIGNAGE_TOKEN: token, XDG_CONFIG_HOME: configHome };
  const signage = startProcess(['bin/signage.js', 'simulate', '-o', 'json', ...argv], { env });
  /** Returns the last progress line. There is one every 5 s. */
  const progress = () => signage.err().trimEnd().split('\n').at(-1) ?? '';
  return {
    progress,
    interrupt: () => signage.signal('SIGINT'),
    /** Resolves as soon as so many TVs play. */
    async playing(count: number) {
      while (Number(/(\d+) playing/.exec(progress())?.[1] ?? 0) < count) await sleep(pollMs);
    },
    /** Linux only. */
    async residentMB() {
      const status = await readFile(`/proc/${signage.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    },
    /** Waits for the end, whatever the exit code. */
    async report() {
      await signage.ended;
      return JSON.parse(signage.out()) as FleetReport;
    },
  };
}
