import type { TvRequest } from '../wire/exchange.ts';
import type { ExamPart } from './part.ts';
import { publishLongItem } from './revoke.ts';
import { reportMinutes } from './waits.ts';

/** Maximum TV seconds between the first batch and the rest of the queue. */
const queueSeconds = 10;
/** Maximum TV minutes until a TV has started. */
const bootMinutes = 3;

const digestOf = ({ bodyDigest }: TvRequest) => bodyDigest;

/**
 * The power is cut while the answer to a batch is lost. The network returns later than the power.
 */
export const power: ExamPart = {
  id: 'power',
  async run(exam) {
    if (!exam.power) return;
    await exam.untilSettled();
    exam.step('loses the answer to a batch of events');
    // A batch that the last outage has cut is accepted, so that its events are not lost, too.
    const cut = new Set(exam.recording.ofTv.filter(({ end }) => end === 'cut').map(digestOf));
    const isNew = (request: TvRequest) => !cut.has(digestOf(request));
    const lost = exam.inject('power.lost', 'lost-answer:events', isNew);
    if (!(await exam.until(() => lost.count > 0, exam.minutes(reportMinutes))))
      return exam.remove(lost);
    exam.step('has its power cut: pull the plug now');
    if (!(await exam.power.off())) {
      exam.remove(lost);
      await exam.untilGood('postEvents', exam.now(), exam.minutes(reportMinutes));
      return;
    }
    exam.mark('power goes');
    const offline = exam.inject('power.offline', 'lost-request');
    exam.remove(lost);
    exam.step('has its power back, but no network');
    await exam.power.on();
    exam.mark('power is back');
    const poweredMs = exam.now();
    const started = await exam.untilExchange(
      ({ atMs, fault }) => fault === 'power.offline' && atMs >= poweredMs,
      bootMinutes * exam.timing.minuteMs,
    );
    if (started) await exam.pauseTv(exam.phases.offline);
    await publishLongItem(exam);
    exam.remove(offline);
    exam.mark('power found its network');
    exam.step('finds its network again');
    const backMs = exam.now();
    if (!started) return;
    const sent = await exam.untilGood('postEvents', backMs, exam.minutes(reportMinutes));
    if (sent) await exam.pauseTv(queueSeconds);
  },
};
