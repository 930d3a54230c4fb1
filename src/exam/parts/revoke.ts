import type { TvExchange } from '../wire/exchange.ts';
import { phasesOf, secondConfig } from './options.ts';
import type { ExamPart } from './part.ts';
import { untilRegistered } from './register.ts';

/** The device is revoked, and the screen gets a new code. */
export const revoke: ExamPart = {
  id: 'revoke',
  async run(exam) {
    await exam.untilSettled();
    exam.step('is revoked');
    exam.mark('revoked');
    await exam.service.revoke();
    const isRevoked = ({ answer, end }: TvExchange) =>
      end === 'answered' && answer?.code === 'device_key_revoked';
    const refused = await exam.untilExchange(
      isRevoked,
      exam.minutes(1.6 * secondConfig.syncIntervalMinutes),
    );
    if (!refused) return;
    exam.step('gets a new pairing code');
    exam.mark('new code');
    const sinceMs = exam.now();
    await exam.showCode();
    if (!(await untilRegistered(exam, sinceMs))) return;
    exam.step('uses its new key');
    await exam.untilGood('getPlaylist', sinceMs, exam.minutes(3));
    await exam.pauseTv(phasesOf(exam.isQuick).paired);
  },
};
