import type { TvRequest } from '../wire/exchange.ts';
import type { Effect, Fault } from '../wire/faults.ts';
import { type Exam, type Part, reportMinutes } from './part.ts';

/** Maximum TV seconds until the TV has sent the rest of a rejected batch. */
const partsSeconds = 20;

const hasSeveral = ({ events }: TvRequest) => events.length > 1;

/**
 * Returns the index of the event that the exam rejects: the fourth, or the last event of a smaller
 * batch.
 */
export const refusedIndex = ({ events }: Pick<TvRequest, 'events'>): number =>
  Math.min(3, events.length - 1);

/** Injects a fault into batches, and waits for the batch after it. */
async function meet(exam: Exam, fault: Omit<Fault, 'operation'>): Promise<void> {
  const sinceMs = exam.now();
  const active = exam.inject({ ...fault, operation: 'postEvents' });
  const isMet = () => active.count >= (fault.times ?? 1);
  await exam.until(isMet, exam.minutes(reportMinutes));
  exam.remove(active);
  const last = exam.recording.ofTv.findLast((one) => one.fault === fault.id && one.atMs >= sinceMs);
  if (last) await exam.untilNext(last, exam.minutes(reportMinutes));
}

/** The answers to batches are lost. Then batches fail and are rejected. */
export const events: Part = {
  id: 'events',
  async run(exam) {
    const { retryAfterSeconds } = exam.timing;
    exam.step('loses the answers to a batch of events');
    await meet(exam, { id: 'events.lost', effect: { kind: 'lose' }, times: 2 });
    if (!exam.recording.ofTv.some(({ operation }) => operation === 'postEvents')) return;
    exam.step('gets 500, 503 with Retry-After and 413 for a batch of events');
    const internal: Effect = { kind: 'answer', status: 500, code: 'internal_error' };
    const busy: Effect = { kind: 'answer', status: 503, code: 'unavailable', retryAfterSeconds };
    const large: Effect = { kind: 'answer', status: 413, code: 'body_too_large' };
    const operation = 'postEvents';
    const failures = [
      exam.inject({ id: 'events.500', operation, effect: internal, times: 1 }),
      exam.inject({ id: 'events.503', operation, effect: busy, times: 1 }),
    ];
    await meet(exam, { id: 'events.413', effect: large, times: 1, applies: hasSeveral });
    for (const active of failures) exam.remove(active);
    await exam.pauseTv(partsSeconds);
    exam.step('gets 400 for one event of a batch');
    const errors = (request: TvRequest) => [
      { path: `/${refusedIndex(request)}/timestamp`, message: 'must be a whole number' },
    ];
    const invalid: Effect = { kind: 'answer', status: 400, code: 'invalid_request', errors };
    let single = 0;
    // A TV may send each event in its own batch. In that case, the exam rejects the second batch.
    const applies = (request: TvRequest) => hasSeveral(request) || ++single > 1;
    await meet(exam, { id: 'events.400', effect: invalid, times: 1, applies });
    const refused = exam.recording.ofTv.findLast(({ fault }) => fault === 'events.400');
    if (!refused) return;
    exam.step('sends its events undisturbed');
    await exam.untilGood('postEvents', refused.endMs, exam.minutes(reportMinutes));
    await exam.pauseTv(partsSeconds);
  },
};
