import type { Fault } from '../wire/faults.ts';
import type { Exam, Part } from './part.ts';

/** TV seconds after which the exam cuts a held request. */
const cutSeconds = 10;
const waitMinutes = 1.5;

/** Injects a fault into requests for changes, and waits for the request after it. */
async function meet(exam: Exam, fault: Omit<Fault, 'operation'>): Promise<void> {
  const active = exam.inject({ ...fault, operation: 'getDeviceChanges' });
  await exam.until(() => active.count >= (fault.times ?? 1), exam.minutes(waitMinutes));
  exam.remove(active);
  const met = exam.recording.ofTv.findLast((one) => one.fault === fault.id);
  if (met) await exam.untilNext(met, exam.minutes(waitMinutes));
}

/**
 * Requests for changes are answered at once, then cut, then rejected with 503, and finally with
 * 404.
 */
export const changes: Part = {
  id: 'changes',
  async run(exam) {
    const isUsed = () =>
      exam.recording.ofTv.some(({ operation }) => operation === 'getDeviceChanges');
    if (!(await exam.until(isUsed, exam.minutes(2)))) return;
    exam.step('gets immediate answers about changes, although nothing has changed');
    await meet(exam, { id: 'changes.at-once', effect: { kind: 'at-once' }, times: 4 });
    exam.step('loses a held request for changes');
    await meet(exam, {
      id: 'changes.cut',
      effect: { kind: 'cut', afterMs: cutSeconds * exam.timing.tvSecondMs },
      times: 1,
      applies: ({ waitSeconds }) => waitSeconds !== undefined,
    });
    const { retryAfterSeconds } = exam.timing;
    exam.step('gets 503 with Retry-After for a request for changes');
    await meet(exam, {
      id: 'changes.503',
      effect: { kind: 'answer', status: 503, code: 'unavailable', retryAfterSeconds },
      times: 1,
    });
    exam.step('learns of changes');
    await exam.untilOver('playlist');
    await exam.pauseTv(20);
    exam.step('gets 404 for a request for changes');
    exam.inject({
      id: 'changes.404',
      operation: 'getDeviceChanges',
      effect: { kind: 'answer', status: 404, code: 'not_found' },
    });
    await exam.until(
      () => exam.recording.ofTv.some(({ fault }) => fault === 'changes.404'),
      exam.minutes(waitMinutes),
    );
  },
};
