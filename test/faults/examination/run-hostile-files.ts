import { onTestFinished } from 'vitest';
import { Examiner } from '../../../src/media/examination/examiner.ts';
import { headBytes, type Verdict } from '../../../src/media/examination/verdict.ts';
import { type HostileFile, healthyFiles, hostileFiles, knownFiles } from './hostile-files.ts';

/**
 * What no examined file may take: work of this thread, time until its verdict, and memory. A thread
 * may have to start before the limit of 2 seconds counts.
 */
const limits = { workMs: 200, verdictMs: 3500, memoryMB: 128 };

const names = ['workMs', 'verdictMs', 'memoryMB'] as const;

const typeOfKind: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  html: 'text/html',
  mp4: 'video/mp4',
  webm: 'video/webm',
};

/** Measures the work of this thread, and the memory of the process, until `stop`. */
function watch() {
  const before = performance.eventLoopUtilization();
  const start = process.memoryUsage.rss();
  let rss = start;
  const timer = setInterval(() => {
    rss = Math.max(rss, process.memoryUsage.rss());
  }, 10);
  return () => {
    clearInterval(timer);
    const { active } = performance.eventLoopUtilization(before);
    return { workMs: active, memoryMB: (rss - start) / 1e6 };
  };
}

/** Examines a file, as a service does without `source`, else as the command line does. */
const examine = (examiner: Examiner, file: Uint8Array, hasSource: boolean): Promise<Verdict> =>
  examiner.examine({
    head: file.subarray(0, headBytes),
    isWhole: file.length <= headBytes,
    ...(hasSource && {
      source: { size: file.length, read: async (start, end) => file.subarray(start, end) },
    }),
  });

/** Examines hostile files, and after each hundred a healthy one of each kind. */
export async function runHostileFiles(seed: number, count: number) {
  const examiner = new Examiner();
  onTestFinished(() => examiner.close());
  const healthy = await healthyFiles();
  const wrong: string[] = [];
  const outcomes: Record<string, number> = {};
  const most = { workMs: 0, verdictMs: 0, memoryMB: 0 };

  async function checkHealthy() {
    for (const [kind, file] of Object.entries(healthy)) {
      const { type, duration } = await examine(examiner, file, true);
      if (type !== typeOfKind[kind]) wrong.push(`a healthy ${kind} is ${type}`);
      if (kind === 'mp4' && duration !== 2.5) wrong.push('a healthy mp4 has no length');
    }
  }

  async function measure(file: Uint8Array, hasSource: boolean) {
    const start = performance.now();
    const stop = watch();
    const verdict = await examine(examiner, file, hasSource);
    return { verdict, figures: { ...stop(), verdictMs: performance.now() - start } };
  }

  async function check({ kind, file }: HostileFile, at: string) {
    const hasSource = ['mp4', 'webm'].includes(kind) || kind.includes('ctts');
    let { verdict, figures } = await measure(file, hasSource);
    // Other programs on the machine may take the time of this one, but hardly twice.
    if (names.some((name) => figures[name] > limits[name]))
      ({ verdict, figures } = await measure(file, hasSource));
    for (const name of names) {
      most[name] = Math.max(most[name], Math.round(figures[name]));
      if (figures[name] > limits[name]) wrong.push(`${at}, ${kind}: ${name} ${figures[name]}`);
    }
    const isCostly = verdict.refusal?.includes('too much') === true;
    const outcome = `${kind}: ${isCostly ? 'too much' : (verdict.type ?? 'refused')}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }

  await checkHealthy();
  for (const one of knownFiles()) await check(one, 'known');
  let done = 0;
  for await (const one of hostileFiles(seed, count)) {
    await check(one, `seed ${seed}, ${done++}`);
    if (done % 100 === 0) await checkHealthy();
  }
  return { wrong, outcomes, most };
}
