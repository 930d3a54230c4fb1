import type { TvExchange } from '../wire/exchange.ts';
import { firstConfig, secondConfig } from './options.ts';
import type { Exam, ExamPart } from './part.ts';

/** Answers after which the TV must keep its key and must not repeat its request rapidly. */
const refusals: readonly { id: string; answer: string; isQuick?: true }[] = [
  { id: 'config.401-mismatch', answer: '401:config device_key_mismatch', isQuick: true },
  { id: 'config.401-missing', answer: '401:config device_key_missing' },
  { id: 'config.401-uncoded', answer: '401:config uncoded' },
  { id: 'config.403', answer: '403:config uncoded', isQuick: true },
];

/** Gives a TV that has lost its key a new code. Returns its next request for the config. */
async function nextOfRepaired(
  exam: Exam,
  met: TvExchange,
  maxMs: number,
): Promise<TvExchange | undefined> {
  const sinceMs = exam.now();
  if (!(await exam.repair())) return undefined;
  const isAgain = exam.recording.ofTv.some(
    (one) => one.operation === 'registerDevice' && one.atMs >= sinceMs,
  );
  return isAgain ? exam.untilNext(met, maxMs) : undefined;
}

/** The config changes. Then the exam rejects requests for the config. */
export const config: ExamPart = {
  id: 'config',
  async run(exam) {
    exam.step('fetches its config');
    const firstMs = exam.minutes(1.6 * firstConfig.syncIntervalMinutes);
    if (!(await exam.untilGood('getDeviceConfig', 0, firstMs))) return;
    await exam.service.setConfig(secondConfig);
    exam.step('gets another sync interval');
    const second = await exam.untilExchange(
      ({ answer, operation }) =>
        operation === 'getDeviceConfig' && answer?.syncMinutes === secondConfig.syncIntervalMinutes,
      firstMs,
    );
    if (!second) return;
    exam.step('gets 401 and 403 for its config, from the service and from proxies');
    const chosen = refusals.filter(({ isQuick }) => isQuick || !exam.isQuick);
    for (const { id, answer } of chosen) exam.inject(id, `${answer} first 1`);
    const maxMs = exam.minutes(1.6 * secondConfig.syncIntervalMinutes);
    let met = second;
    for (const _ of chosen) {
      const next = (await exam.untilNext(met, maxMs)) ?? (await nextOfRepaired(exam, met, maxMs));
      if (!next) return;
      met = next;
    }
    if (exam.isQuick) return;
    await exam.untilMark('playlist failures end', 'playlist over');
    exam.step('gets 500 for its config');
    const failing = exam.inject('config.500', '500:config internal_error');
    await exam.until(() => failing.count > 0, exam.minutes(1.6));
    await exam.pause(exam.minutes(1.6 * secondConfig.syncIntervalMinutes));
    exam.mark('config failures end');
    exam.remove(failing);
  },
};
