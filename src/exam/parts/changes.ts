import type { TvExchange, TvRequest } from '../wire/exchange.ts';
import type { Exam, ExamPart, InjectedFault } from './part.ts';

/** TV seconds after which the exam cuts a held request. */
const cutSeconds = 10;
const waitMinutes = 1.5;
/** TV seconds in which the TV fetches the last change that it can learn of. */
const learnSeconds = 12;

/** Waits until a fault has hit requests for changes `times` times, and for the request after it. */
async function meet(exam: Exam, active: InjectedFault, times = 1): Promise<void> {
  await exam.until(() => active.count >= times, exam.minutes(waitMinutes));
  exam.remove(active);
  const met = exam.recording.ofTv.findLast((one) => one.fault === active.id);
  if (met) await exam.untilNext(met, exam.minutes(waitMinutes));
}

/**
 * Requests for changes are answered at once, then cut, then rejected with 503, and finally with
 * 404.
 */
export const changes: ExamPart = {
  id: 'changes',
  async run(exam) {
    const isUse = ({ operation }: TvExchange) => operation === 'getDeviceChanges';
    if (!(await exam.untilExchange(isUse, exam.minutes(2)))) return;
    exam.step('gets immediate answers about changes, although nothing has changed');
    await meet(exam, exam.inject('changes.at-once', 'at-once:changes first 4'), 4);
    exam.step('loses a held request for changes');
    const cutMs = Math.round(cutSeconds * exam.timing.tvSecondMs);
    const isHeld = ({ waitSeconds }: TvRequest) => waitSeconds !== undefined;
    await meet(exam, exam.inject('changes.cut', `timeout:changes ${cutMs}ms first 1`, isHeld));
    const { retryAfterSeconds } = exam.timing;
    exam.step('gets 503 with Retry-After for a request for changes');
    await meet(exam, exam.inject('changes.503', `503:changes retry ${retryAfterSeconds}s first 1`));
    exam.step('learns of changes');
    await exam.untilOver('playlist');
    await exam.pauseTv(learnSeconds);
    exam.step('gets 404 for a request for changes');
    exam.inject('changes.404', '404:changes not_found');
    await exam.untilExchange(({ fault }) => fault === 'changes.404', exam.minutes(waitMinutes));
  },
};
