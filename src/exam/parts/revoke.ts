import type { TvExchange } from '../wire/exchange.ts';
import { firstConfig, secondConfig } from './options.ts';
import type { Exam, ExamPart } from './part.ts';
import { untilPlayed } from './playlist.ts';
import { isGood } from './waits.ts';

/** TV seconds in which a revoked TV that still uses its key is watched, before it gets a code. */
const deadKeySeconds = 60;
/** Time in which each TV has reported the end of its last item, in minutes of TV time. */
const playedMinutes = 3.2;
/** Minimum time from the delivery of a playlist to its end, in real seconds. */
const minEndingSeconds = 2;
/** Minimum time in which playlist requests fail after the end of a playlist, in real seconds. */
const minEndedSeconds = 3;

/** Publishes the playlist that the TV has when it is revoked. Its item would outlast the exam. */
export const publishLongItem = (exam: Exam): Promise<number> => exam.publish({ isLong: true });

/** Waits until the TV has got the playlist with the long item. */
async function untilLongItem(exam: Exam): Promise<void> {
  const published = exam.recording.marks.findLast(({ name }) => name.startsWith('long edition'));
  exam.step('gets a playlist with a long item');
  if (!published) await exam.deliver(() => publishLongItem(exam));
  else {
    const maxMs = exam.minutes(1.6 * secondConfig.syncIntervalMinutes);
    await exam.untilGood('getPlaylist', published.atMs, maxMs);
  }
}

/**
 * Waits until the TV has registered, or is known to keep its dead key. Returns whether it has
 * registered.
 */
async function untilPairedAgain(exam: Exam, refused: TvExchange): Promise<boolean> {
  const sinceMs = exam.now();
  const lateMs = sinceMs + deadKeySeconds * exam.timing.tvSecondMs;
  const outcome = await exam.untilExchange(
    (one) =>
      (one.atMs >= sinceMs && one.operation === 'registerDevice' && isGood(one)) ||
      (one.atMs >= lateMs && one.key === refused.key),
    exam.repairMs,
  );
  return outcome?.operation === 'registerDevice';
}

/**
 * Prepares a playlist that ends soon for the TV's first request with its new key. Returns a
 * function that waits for the end. Playlist requests fail then, so that the TV must know the end by
 * itself.
 */
function prepareEnd(exam: Exam, refused: TvExchange): () => Promise<void> {
  const seconds = (ofTv: number, least: number) =>
    Math.max(least, (ofTv * exam.timing.tvSecondMs) / 1000);
  let endMs = 0;
  let edition = 0;
  const publish = async () => {
    const afterSeconds = seconds(exam.phases.ending, minEndingSeconds);
    // A whole second.
    const validUntil = Math.ceil(exam.now() / 1000 + afterSeconds);
    endMs = validUntil * 1000;
    edition = await exam.publish({ isLong: true, validUntil });
  };
  const { isGiven, cancel } = exam.prepare(
    'getPlaylist',
    publish,
    ({ key }) => key !== refused.key,
  );
  return async () => {
    const given = await exam.untilExchange(isGiven, exam.minutes(firstConfig.syncIntervalMinutes));
    cancel();
    if (!given) return;
    exam.step('has a playlist that ends, while playlist requests fail');
    const failing = exam.inject('playlist.500-ended', '500:playlist internal_error');
    await exam.pause(endMs - exam.now());
    exam.mark(`edition ${edition} ends`);
    await exam.pause(seconds(exam.phases.ended, minEndedSeconds) * 1000);
    exam.remove(failing);
    exam.mark('end is over');
    exam.step('reports what it played');
    await untilPlayed(exam, edition, playedMinutes);
  };
}

/** The device is revoked, and the screen gets a new code. Then its playlist ends. */
export const revoke: ExamPart = {
  id: 'revoke',
  async run(exam) {
    await exam.untilSettled();
    await untilLongItem(exam);
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
    exam.step('has no key, until it gets a new pairing code');
    await exam.pauseTv(exam.phases.unpaired);
    const untilEnd = prepareEnd(exam, refused);
    exam.step('gets a new pairing code');
    exam.mark('new code');
    await exam.showCode();
    if (await untilPairedAgain(exam, refused)) await untilEnd();
  },
};
