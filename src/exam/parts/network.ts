import { phasesOf, secondConfig } from './options.ts';
import { type ExamPart, reportMinutes } from './part.ts';
import { untilFirstSwitch, untilSecondSwitch } from './upcoming.ts';

/**
 * The network is down for some minutes: each connection breaks without an answer. A schedule
 * switches to an entry shortly before, and to another entry meanwhile.
 */
export const network: ExamPart = {
  id: 'network',
  async run(exam) {
    const { away } = phasesOf(exam.isQuick);
    const sync = secondConfig.syncIntervalMinutes;
    await exam.untilSettled();
    const switches = await untilFirstSwitch(exam);
    exam.step('has no network');
    exam.mark('network goes');
    const goneMs = exam.now();
    const cut = exam.inject('network.away', 'lost-request');
    const untilAway = async () => {
      await exam.untilExchange(
        ({ atMs, fault }) => fault === 'network.away' && atMs >= goneMs,
        exam.minutes(1.6 * sync),
      );
      await exam.pauseTv(away);
    };
    await Promise.all([untilAway(), switches && untilSecondSwitch(exam, switches)]);
    await exam.service.clearSchedule();
    exam.remove(cut);
    exam.mark('network is back');
    const backMs = exam.now();
    exam.step('finds its network again');
    await exam.untilGood('getPlaylist', backMs, exam.minutes(1.6 * sync));
    const sent = await exam.untilGood('postEvents', backMs, exam.minutes(reportMinutes));
    if (!sent) return;
    exam.step('sends the events from its time without a network');
    await exam.pauseTv(15);
    if (!exam.isQuick) await exam.untilNext(sent, exam.minutes(reportMinutes));
  },
};
