import { secondConfig } from './options.ts';
import type { Exam } from './part.ts';

/** Time from a switch to the next step of the exam, in seconds of TV time. */
const settleSeconds = 12;
/** Time between the switches, in seconds of TV time. */
const betweenSeconds = 40;

/** The switches of the exam's schedule, in Unix epoch milliseconds. */
export interface Switches {
  firstMs: number;
  secondMs: number;
}

/**
 * Sets a schedule, and waits until its first switch is over. Each TV has fetched `upcoming` before
 * that switch. Returns `undefined` if the TV has not fetched the schedule.
 */
export async function untilFirstSwitch(exam: Exam): Promise<Switches | undefined> {
  const { service, timing } = exam;
  const sinceMs = exam.now();
  const fetchMs = exam.minutes(1.6 * secondConfig.syncIntervalMinutes);
  const tvSeconds = (count: number) => Math.ceil((count * timing.tvSecondMs) / 1000);
  // Entries begin at whole seconds of the service.
  const firstAt = Math.ceil((sinceMs + fetchMs) / 1000) + tvSeconds(1);
  const secondAt = firstAt + tvSeconds(betweenSeconds);
  exam.step('gets a schedule with two switches');
  await service.setSchedule(firstAt, secondAt);
  const fetched = await exam.untilGood('getPlaylist', exam.now(), fetchMs);
  if (!fetched) return undefined;
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
