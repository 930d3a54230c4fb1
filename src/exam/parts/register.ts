import type { TvExchange } from '../wire/exchange.ts';
import { firstConfig, secondConfig } from './options.ts';
import type { Exam, ExamPart } from './part.ts';
import { isGood } from './waits.ts';

/** Maximum TV minutes until the TV repeats a registration whose answer was lost. */
const repeatMinutes = 3;

const isRegistration = ({ operation }: TvExchange) => operation === 'registerDevice';
const isRegistered = (exchange: TvExchange) => isRegistration(exchange) && isGood(exchange);
const isUsedUp = (exchange: TvExchange) =>
  isRegistration(exchange) && exchange.end === 'answered' && (exchange.answer?.status ?? 0) === 409;

/** Waits until the TV has registered. Returns whether it has. */
async function untilRegistered(exam: Exam, sinceMs: number): Promise<boolean> {
  const found = await exam.untilExchange(
    (one) => one.atMs >= sinceMs && isRegistered(one),
    exam.pairingSeconds * 1000,
  );
  return found !== undefined;
}

/**
 * The TV registers. Its first attempt gets 503, and the answer to its second attempt is lost. If
 * the TV cannot register with the same code, it gets a new code.
 */
export const register: ExamPart = {
  id: 'register',
  async run(exam) {
    await exam.service.setConfig(firstConfig);
    // In the quick exam, the first request for the config gets another one than the registration.
    if (exam.isQuick) exam.prepare('getDeviceConfig', () => exam.service.setConfig(secondConfig));
    const { retryAfterSeconds } = exam.timing;
    const unavailable = exam.inject(
      'register.503',
      `503:register retry ${retryAfterSeconds}s first 1`,
    );
    const lost = exam.inject('register.lost', 'lost-answer:register first 1');
    exam.step('waits for its pairing code; its registration then gets 503');
    await exam.showCode();
    const first = await exam.untilExchange(isRegistration, exam.pairingSeconds * 1000);
    if (!first) return;
    await exam.publish();
    exam.step('repeats its registration, and the answer is lost');
    await exam.untilExchange(
      (one) => isRegistered(one) || isUsedUp(one),
      exam.minutes(2 * repeatMinutes),
    );
    exam.remove(unavailable);
    exam.remove(lost);
    if (!exam.recording.ofTv.some(isRegistered)) {
      exam.step('could not repeat its registration: enter the new code');
      const sinceMs = exam.now();
      await exam.showCode();
      if (!(await untilRegistered(exam, sinceMs))) return;
    }
    exam.mark('registered');
  },
};
