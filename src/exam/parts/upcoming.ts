import type { Exam } from './part.ts';
import { isGood } from './waits.ts';

/** Time from the delivery of the schedule to its first switch, in seconds of TV time. */
const leadSeconds = 20;
/** Time from a switch to the next step of the exam, in seconds of TV time. */
const settleSeconds = 12;
/** Time between the switches, in seconds of TV time. */
const betweenSeconds = 30;

/** The switches of the exam's schedule, in Unix epoch milliseconds. */
export interface Switches {
  firstMs: number;
  secondMs: number;
}

/**
 * Delivers a schedule, and waits until its first switch is over. Returns `undefined` if the TV has
 * not fetched the schedule before that switch.
 */
export async function untilFirstSwitch(exam: Exam): Promise<Switches | undefined> {
  const { service, timing } = exam;
  const tvSeconds = (count: number) => Math.ceil((count * timing.tvSecondMs) / 1000);
  let firstAt = 0;
  let secondAt = 0;
  exam.step('gets a schedule with two switches');
  // An interrupted exam may have left its own.
  await service.clearSchedule();
  const fetched = await exam.deliver(async () => {
    // Entries begin at whole seconds of the service.
    firstAt = Math.ceil(exam.now() / 1000) + tvSeconds(leadSeconds);
    secondAt = firstAt + tvSeconds(betweenSeconds);
    exam.mark('schedule');
    await service.setSchedule(firstAt, secondAt);
  });
  if (!fetched || !isGood(fetched) || fetched.endMs >= firstAt * 1000) return undefined;
  await exam.pause(firstAt * 1000 - exam.now());
  exam.mark('first switch');
  exam.step('switches to the first entry');
  await exam.pauseTv(settleSeconds);
  return { firstMs: firstAt * 1000, secondMs: secondAt * 1000 };
}

/** Waits for the second switch, which comes while the TV has no network. */
export async function untilSecondSwitch(exam: Exam, { secondMs }: Switches): Promise<void> {
  await exam.pause(secondMs - exam.now());
  exam.mark('second switch');
  exam.step('switches to the second entry');
}
