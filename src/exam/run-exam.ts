import { setMaxListeners } from 'node:events';
import { systemClock, systemRandom } from '../domain/clock.ts';
import { ExamService } from './exam-service.ts';
import { type PartId, type TvExamOptions, timingOf } from './options.ts';
import { changes } from './parts/changes.ts';
import { config } from './parts/config.ts';
import { events } from './parts/events.ts';
import { network } from './parts/network.ts';
import { Exam, ExamInterrupted, type Part } from './parts/part.ts';
import { playlist } from './parts/playlist.ts';
import { power } from './parts/power.ts';
import { register } from './parts/register.ts';
import { revoke } from './parts/revoke.ts';
import { makeReport, type TvExamReport } from './report.ts';
import { fingerprint } from './wire/exchange.ts';
import { Faults } from './wire/faults.ts';
import { openFront } from './wire/front.ts';
import { Recording } from './wire/recording.ts';

/** The parts of a stage run side by side. */
const stages: readonly (readonly Part[])[] = [
  [register],
  [playlist, config, events, changes],
  [network],
  [power],
  [revoke],
];

/** Longest hold of a request for changes, in seconds of TV time. */
const holdTvSeconds = 25;

/**
 * Starts a service for one TV, puts the TV through the parts of the exam, and judges what it did.
 * Resolves with the report, also when the signal aborts. Throws `port_taken` and `invalid_option`.
 *
 * @example
 * const report = await runTvExam({ quick: true, onCode: (code, url) => enter(code, url) });
 * if (!report.isPassed) process.exitCode = 9;
 */
export async function runTvExam(options: TvExamOptions): Promise<TvExamReport> {
  const { clock = systemClock, random = systemRandom, host = '127.0.0.1', port = 0 } = options;
  const timing = timingOf(options);
  const recording = new Recording(clock);
  const faults = new Faults();
  const codes: string[] = [];
  const finished = new Set<PartId>();
  const interruption = new AbortController();
  setMaxListeners(0, interruption.signal);
  const interrupt = () => interruption.abort();
  options.signal?.addEventListener('abort', interrupt);
  if (options.signal?.aborted) interrupt();
  const service = await ExamService.start('memory:', { clock, random });
  try {
    const holdSeconds = Math.max(1, Math.floor(holdTvSeconds / timing.pace));
    const { running } = service;
    const front = await openFront({
      ...{ host, port, service: running, recording, faults, codes, holdSeconds, clock },
    });
    try {
      const deps = {
        ...{ service, recording, faults, timing, clock, options, power: options.power },
        signal: interruption.signal,
        url: front.url,
        addCode: (code: string) => {
          codes.push(code);
          recording.addCode(fingerprint(code));
        },
      };
      faults.add({
        id: 'rotation.lost',
        operation: 'rotateDeviceKey',
        effect: { kind: 'lose' },
        times: 1,
      });
      const isChosen = ({ id }: Part) => id === 'register' || (options.parts?.includes(id) ?? true);
      for (const stage of stages)
        await Promise.all(
          stage.map(async (part) => {
            if (isChosen(part)) {
              await part.run(new Exam(part.id, deps));
              finished.add(part.id);
            }
            recording.mark(`${part.id} over`);
          }),
        );
    } finally {
      await front.close();
    }
  } catch (error) {
    if (!(error instanceof ExamInterrupted)) throw error;
  } finally {
    options.signal?.removeEventListener('abort', interrupt);
    await service.close();
  }
  const exam = {
    exchanges: recording.ofTv,
    marks: recording.marks,
    timing,
    isQuick: options.quick === true,
    strangers: recording.strangers,
    isInterrupted: interruption.signal.aborted,
  };
  return makeReport(exam, [...finished]);
}
