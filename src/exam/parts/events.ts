import type { TvRequest } from '../wire/exchange.ts';
import { type Exam, type ExamPart, type InjectedFault, reportMinutes } from './part.ts';

/** Maximum TV seconds until the TV has sent the rest of a rejected batch. */
const partsSeconds = 20;

const hasSeveral = ({ events }: TvRequest) => events.length > 1;

/**
 * Waits until a fault has hit batches `times` times, and for the batch after it.
 */
async function meet(exam: Exam, active: InjectedFault, times = 1): Promise<void> {
  const sinceMs = exam.now();
  await exam.until(() => active.count >= times, exam.minutes(reportMinutes));
  exam.remove(active);
  const last = exam.recording.ofTv.findLast(
    (one) => one.fault === active.id && one.atMs >= sinceMs,
  );
  if (last) await exam.untilNext(last, exam.minutes(reportMinutes));
}

/** The answers to batches are lost. Then batches fail and are rejected. */
export const events: ExamPart = {
  id: 'events',
  async run(exam) {
    const { retryAfterSeconds } = exam.timing;
    exam.step('loses the answers to a batch of events');
    await meet(exam, exam.inject('events.lost', 'lost-answer:events first 2'), 2);
    if (!exam.recording.ofTv.some(({ operation }) => operation === 'postEvents')) return;
    exam.step('gets 500, 503 with Retry-After and 413 for a batch of events');
    const failures = [
      exam.inject('events.500', '500:events first 1'),
      exam.inject('events.503', `503:events retry ${retryAfterSeconds}s first 1`),
    ];
    await meet(exam, exam.inject('events.413', '413:events first 1', hasSeveral));
    for (const active of failures) exam.remove(active);
    await exam.pauseTv(partsSeconds);
    exam.step('gets 400 for one event of a batch');
    let single = 0;
    // A TV may send each event in its own batch. In that case, the exam rejects the second batch.
    const accepts = (request: TvRequest) => hasSeveral(request) || ++single > 1;
    await meet(exam, exam.inject('events.400', '400:events first 1', accepts));
    const refused = exam.recording.ofTv.findLast(({ fault }) => fault === 'events.400');
    if (!refused) return;
    exam.step('sends its events undisturbed');
    await exam.untilGood('postEvents', refused.endMs, exam.minutes(reportMinutes));
    await exam.pauseTv(partsSeconds);
  },
};
