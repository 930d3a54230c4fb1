import { secondConfig } from './options.ts';
import type { Exam, ExamPart } from './part.ts';
import { publishLongItem } from './revoke.ts';
import { untilFirstSwitch, untilSecondSwitch } from './upcoming.ts';
import { reportMinutes } from './waits.ts';

/** Maximum TV seconds until the TV has sent the events of its time without a network. */
const queueSeconds = 15;

/**
 * Waits until no other part disturbs this one. In the quick exam, the TV gets the schedule together
 * with its new playlist.
 */
async function untilUndisturbed(exam: Exam): Promise<void> {
  await exam.untilOver('config', 'events', 'changes');
  await exam.untilMark('network is due', 'playlist over');
}

/**
 * The network is down for a while: each connection breaks without an answer. A schedule switches to
 * an entry shortly before, and to another entry meanwhile.
 */
export const network: ExamPart = {
  id: 'network',
  async run(exam) {
    const sync = secondConfig.syncIntervalMinutes;
    await untilUndisturbed(exam);
    if (!(await exam.repair())) return;
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
      await exam.pauseTv(exam.phases.away);
    };
    await Promise.all([untilAway(), switches && untilSecondSwitch(exam, switches)]);
    await exam.service.clearSchedule();
    if (!exam.hasPart('power')) await publishLongItem(exam);
    const backMs = exam.now();
    exam.mark('network is back');
    exam.remove(cut);
    exam.step('finds its network again');
    // The power part needs the first batch after the outage.
    if (exam.hasPart('power')) return;
    await exam.untilGood('getPlaylist', backMs, exam.minutes(1.6 * sync));
    const sent = await exam.untilGood('postEvents', backMs, exam.minutes(reportMinutes));
    if (!sent) return;
    exam.step('sends the events from its time without a network');
    await exam.pauseTv(queueSeconds);
  },
};
