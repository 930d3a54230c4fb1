// The exam for TV apps in real time, as the command line runs it: `signage tv` in a process of its
// own, and the correct TV that reports least often. Prints how long each exam takes.
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import type { TvExamReport } from '../../../src/entry/conformance.ts';
import { runTvExam } from '../../../src/entry/conformance.ts';
import { examinePageTv, examineStyle } from '../../exam/tv/examine.ts';
import { styles } from '../../exam/tv/styles.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import {
  endProcesses,
  type SignageProcess,
  startProcess,
} from '../../support/process/signage-process.ts';

/** `signage tv` in a process. A person starts it again with each new code. */
class CommandTv {
  readonly #state: string;
  #url = '';
  #process: SignageProcess | undefined;

  constructor(folder: string) {
    this.#state = join(folder, 'tv.json');
  }

  readonly onCode = async (code: string, url: string): Promise<void> => {
    this.#url = url;
    await this.off();
    this.#start(['--code', code]);
  };

  /** Kills the process, as a power cut does. */
  async off(): Promise<boolean> {
    this.#process?.signal('SIGKILL');
    await this.#process?.ended;
    return true;
  }

  async on(): Promise<void> {
    this.#start([]);
  }

  #start(argv: readonly string[]): void {
    const common = ['bin/signage.js', 'tv', '--url', this.#url, '--state', this.#state];
    this.#process = startProcess([...common, '--rotate-every', '2m', ...argv]);
  }
}

async function examineCommand(quick: boolean): Promise<TvExamReport> {
  const tv = new CommandTv(await temporaryFolder());
  const onCode = (code: string, url: string) => void tv.onCode(code, url);
  return runTvExam({ quick, power: tv, onCode });
}

const realTime = { pace: 1, retryAfterSeconds: 5, pairingSeconds: 1800 };
const rareReports = styles['reports only every third heartbeat'];

interface RealTimeExam {
  name: string;
  run(quick: boolean): Promise<TvExamReport>;
  quick: boolean;
  maxMinutes: number;
}

const command = { name: 'signage tv', run: examineCommand };
const pageTv = {
  name: 'the program of docs/tv.md',
  run: async (quick: boolean) => examinePageTv(await temporaryFolder(), { ...realTime, quick }),
};
const rareReporter = {
  name: 'a TV that reports every third heartbeat',
  run: (quick: boolean) => examineStyle(rareReports, { ...realTime, quick }),
};

const exams: readonly RealTimeExam[] = [
  { ...command, quick: true, maxMinutes: 8 },
  { ...pageTv, quick: true, maxMinutes: 8 },
  // The exam waits for its reports.
  { ...rareReporter, quick: true, maxMinutes: 15 },
  { ...command, quick: false, maxMinutes: 20 },
  { ...pageTv, quick: false, maxMinutes: 20 },
  { ...rareReporter, quick: false, maxMinutes: 27 },
];

afterAll(endProcesses);

describe.concurrent('the exam in real time', () => {
  it.for(exams)(
    '$name passes each check within $maxMinutes minutes',
    async ({ name, run, quick, maxMinutes }, { expect }) => {
      const startMs = performance.now();
      const { checks, summary } = await run(quick);
      const minutes = (performance.now() - startMs) / 60_000;
      const skipped = checks.filter(({ result }) => result === 'skip').map(({ id }) => id);
      console.log(`${name}: ${minutes.toFixed(1)} min. ${summary}: ${skipped.join(', ')}`);
      expect(checks.filter(({ result }) => result === 'fail')).toEqual([]);
      expect(minutes).toBeLessThanOrEqual(maxMinutes);
    },
  );
});
