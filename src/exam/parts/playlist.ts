import type { SentEvent, TvExchange } from '../wire/exchange.ts';
import { itemOf } from './exam-service.ts';
import { firstConfig, secondConfig } from './options.ts';
import type { Exam, ExamPart } from './part.ts';
import { reportMinutes } from './waits.ts';

/** Waits until the TV has reported an impression of an edition. */
export async function untilPlayed(
  exam: Exam,
  edition: number,
  maxMinutes = 1.6 * secondConfig.syncIntervalMinutes + reportMinutes,
): Promise<void> {
  const isPlay = ({ type, creativeId }: SentEvent) =>
    type === 'impression' && itemOf(creativeId)?.edition === edition;
  await exam.untilExchange(({ events }) => events.some(isPlay), exam.minutes(maxMinutes));
}

/**
 * Playlist requests fail for a while. Then the playlist is withdrawn, and published again with
 * other items.
 */
export const playlist: ExamPart = {
  id: 'playlist',
  async run(exam) {
    const { retryAfterSeconds } = exam.timing;
    const sync = secondConfig.syncIntervalMinutes;
    exam.step('fetches its playlist');
    const firstMs = exam.minutes(1.6 * firstConfig.syncIntervalMinutes);
    if (!(await exam.untilGood('getPlaylist', 0, firstMs))) return;
    exam.step('gets 500 for its playlist, first with Retry-After');
    exam.inject('playlist.500-retry-after', `500:playlist retry ${retryAfterSeconds}s first 1`);
    const failing = exam.inject('playlist.500', '500:playlist internal_error');
    const startMs = exam.now();
    const failed = await exam.untilExchange(
      ({ fault, atMs }) => fault === 'playlist.500' && atMs >= startMs,
      firstMs,
    );
    if (failed) await exam.pauseTv(exam.phases.failing);
    exam.mark('playlist failures end');
    await exam.service.withdraw();
    exam.remove(failing);

    exam.step('has no playlist: 404, because it was withdrawn');
    const isGone = (sinceMs: number) => (one: TvExchange) =>
      one.atMs >= sinceMs && one.answer?.code === 'playlist_not_found';
    const withdrawnMs = exam.now();
    const gone = await exam.untilExchange(isGone(withdrawnMs), exam.minutes(1.6 * sync));
    if (gone) {
      await exam.pauseTv(exam.phases.dark);
      if (!exam.isQuick) await exam.untilNext(gone, exam.minutes(1.6 * sync));
    }

    exam.step('gets a new playlist');
    const given = exam.deliver(async () => {
      exam.mark('playlist comes back');
      await exam.publish();
    });
    // The network part of the quick exam prepares the same answer.
    if (exam.isQuick) exam.mark('network is due');
    if (!(await given) || exam.isQuick) return;
    exam.step('gets another playlist while it plays');
    let edition = 0;
    const publish = async () => {
      edition = await exam.publish();
    };
    if (await exam.deliver(publish)) await untilPlayed(exam, edition);
  },
};
