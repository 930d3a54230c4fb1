import type { TvExchange, TvRequest } from '../wire/exchange.ts';
import type { Exam, ExamPart } from './part.ts';
import { isGood, reportMinutes } from './waits.ts';

/** Maximum TV seconds until the TV has sent the rest of a rejected batch. */
const partsSeconds = 60;
/** Number of batches after which the exam rejects one with 400, although none got 413. */
const maxBatches = 8;

const hasSeveral = ({ events }: TvRequest) => events.length > 1;
const isBatch = ({ operation }: TvExchange) => operation === 'postEvents';

/**
 * Waits until the service has accepted each event of the rejected batches but the one that the 400
 * named.
 */
async function untilRestSent(exam: Exam, rejected: readonly TvExchange[]): Promise<void> {
  const missing = new Set(rejected.flatMap(({ events }) => events.map(({ digest }) => digest)));
  const remove = (one: TvExchange) => {
    if (!isBatch(one) || !isGood(one)) return;
    for (const { digest } of one.events) missing.delete(digest);
  };
  for (const one of exam.recording.ofTv) remove(one);
  const isRestSent = (added?: TvExchange) => {
    if (added) remove(added);
    return missing.size <= 1;
  };
  await exam.until(isRestSent, partsSeconds * exam.timing.tvSecondMs);
}

/** The answers to a batch are lost. Then a batch fails, and is rejected. */
export const events: ExamPart = {
  id: 'events',
  async run(exam) {
    const { retryAfterSeconds } = exam.timing;
    const reportMs = exam.minutes(reportMinutes);
    exam.step('loses the answers to a batch of events');
    const lost = exam.inject('events.lost', 'lost-answer:events first 2');
    await exam.until(() => lost.count >= 2, reportMs);
    exam.remove(lost);
    const last = exam.recording.ofTv.findLast(({ fault }) => fault === lost.id);
    if (!last || !(await exam.untilNext(last, reportMs))) return;
    exam.step('gets 500, 503 with Retry-After, 413 and 400 for a batch of events');
    const large = {
      500: exam.inject('events.500', '500:events first 1'),
      503: exam.inject('events.503', `503:events retry ${retryAfterSeconds}s first 1`),
      413: exam.inject('events.413', '413:events first 1', hasSeveral),
    };
    let batches = 0;
    let singles = 0;
    // A TV may send each event in its own batch. In that case, the exam rejects the second batch.
    const accepts = (request: TvRequest) =>
      (large[413].count > 0 || ++batches > maxBatches) && (hasSeveral(request) || ++singles > 1);
    const wrong = exam.inject('events.400', '400:events first 1', accepts);
    const rejected = await exam.untilExchange(({ fault }) => fault === wrong.id, 2 * reportMs);
    for (const active of [...Object.values(large), wrong]) exam.remove(active);
    if (!rejected) return;
    exam.step('sends its events undisturbed');
    await exam.untilNext(rejected, reportMs);
    const split = exam.recording.ofTv.filter(({ fault }) => fault === large[413].id);
    await untilRestSent(exam, [...split, rejected]);
  },
};
