import { once } from 'node:events';
import {
  runTvExam,
  type TvExamOptions,
  type TvExamReport,
} from '../../../src/entry/conformance.ts';
import { correctHabits, type Habits } from './habits.ts';
import { PageTv } from './page-tv.ts';
import { TestTv } from './test-tv.ts';
import { TvClock } from './tv-clock.ts';

/** A TV that sits the exam. */
interface Examinee {
  powerOn(): void;
  /** Cuts the power. Rejects if the TV has failed. */
  powerOff(): Promise<void>;
}

type NextCode = (signal: AbortSignal) => Promise<string>;
type MakeTv = (url: string, nextCode: NextCode) => Examinee;

/** How many times faster than real time the TVs live. */
const pace = 20;

/** The codes that a person types into the TV, one after another. */
class TypedCodes extends EventTarget {
  readonly #codes: string[] = [];

  add(code: string): void {
    this.#codes.push(code);
    this.dispatchEvent(new Event('code'));
  }

  async next(signal: AbortSignal): Promise<string> {
    for (;;) {
      const code = this.#codes.shift();
      if (code !== undefined) return code;
      await once(this, 'code', { signal });
    }
  }
}

/** Runs the quick exam for one TV. */
async function examine(makeTv: MakeTv, options: Partial<TvExamOptions>): Promise<TvExamReport> {
  const codes = new TypedCodes();
  let tv: Examinee | undefined;
  const onCode = (code: string, url: string) => {
    codes.add(code);
    if (tv) return;
    tv = makeTv(url, (signal) => codes.next(signal));
    tv.powerOn();
  };
  const power = {
    off: async () => {
      await tv?.powerOff();
      return true;
    },
    on: async () => tv?.powerOn(),
  };
  try {
    return await runTvExam({
      quick: true,
      pace,
      retryAfterSeconds: 2,
      pairingSeconds: 60,
      power,
      onCode,
      ...options,
    });
  } finally {
    await tv?.powerOff();
  }
}

/** Runs the quick exam for a TV that differs from a correct one in these decisions. */
export function examineHabits(
  habits: Partial<Habits>,
  options: Partial<TvExamOptions> = {},
): Promise<TvExamReport> {
  const makeTv: MakeTv = (url, nextCode) =>
    new TestTv({
      url,
      habits: { ...correctHabits, ...habits },
      clock: new TvClock(options.pace ?? pace),
      nextCode,
    });
  return examine(makeTv, options);
}

/** Runs the quick exam for the TV of docs/tv.md. `folder` is an empty folder for its files. */
export function examinePageTv(
  folder: string,
  options: Partial<TvExamOptions> = {},
): Promise<TvExamReport> {
  const makeTv: MakeTv = (url, nextCode) =>
    new PageTv({ folder, pace: options.pace ?? pace, url, nextCode });
  return examine(makeTv, options);
}

/** Returns the ids of the failed checks. */
export const failedIds = ({ checks }: TvExamReport): string[] =>
  checks.filter(({ result }) => result === 'fail').map(({ id }) => id);
