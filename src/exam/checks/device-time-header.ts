import { largest } from '../../domain/numbers/extremes.ts';
import { firstMilliseconds, type TvExchange } from '../wire/exchange.ts';
import { fail, notApplicable, pass, skip, type TvCheck } from './check.ts';
import { shown } from './exam-view.ts';

const inDeviceTime = {
  level: 'should',
  section: '2.5',
  part: 'events',
} as const;
const notSent = notApplicable('The TV sends no X-Device-Time.');

/** Returns the problem with the `X-Device-Time` of a batch, or `undefined`. */
function problemOf({ deviceTime, events }: TvExchange): string | undefined {
  if (deviceTime === undefined) return 'without X-Device-Time';
  if (!/^\d{1,16}$/.test(deviceTime)) return `with X-Device-Time: ${deviceTime}`;
  const newestMs = 1000 * largest(events.map(({ seconds }) => seconds ?? 0));
  const isInSeconds = Number(deviceTime) < firstMilliseconds && newestMs >= firstMilliseconds;
  return isInSeconds ? `with X-Device-Time: ${deviceTime}, in seconds` : undefined;
}

/**
 * Maximum TV seconds until an HTTP client repeats a request by itself because the connection broke.
 * Chromium does so on a reused connection, with the same headers. The TV app does not learn of it.
 */
const clientRepeatSeconds = 0.5;

/**
 * The header is optional, so a TV that never sends it is not judged.
 */
export const deviceTimeChecks: readonly TvCheck[] = [
  {
    ...inDeviceTime,
    id: 'tv.device-time.sent',
    title: 'If any batch has an X-Device-Time, each batch has an X-Device-Time',
    expected: "the TV's clock in Unix epoch milliseconds",
    advice: 'Send X-Device-Time with each batch. In JavaScript, use String(Date.now()).',
    judge(view) {
      const batches = view.of('postEvents');
      if (batches.every(({ deviceTime }) => deviceTime === undefined)) return notSent;
      for (const batch of batches) {
        const problem = problemOf(batch);
        if (problem !== undefined) return fail(`${shown(batch)}, ${problem}.`);
      }
      return pass(`${batches.length} batches.`);
    },
  },
  {
    ...inDeviceTime,
    id: 'tv.device-time.anew',
    title: 'Each attempt to send a batch has a new X-Device-Time',
    expected: 'a different X-Device-Time when the TV resends a batch',
    advice: 'Read the clock when you send the request. Do not store the header with the batch.',
    judge(view) {
      const batches = view.of('postEvents').filter((one) => problemOf(one) === undefined);
      if (batches.length === 0) return notSent;
      const repeats = batches.flatMap((before) => {
        const after = view.nextOf(before);
        if (!after || after.bodyDigest !== before.bodyDigest) return [];
        return view.tvSeconds(before.endMs, after.atMs) < clientRepeatSeconds
          ? []
          : [{ before, after }];
      });
      const stale = repeats.find(({ before, after }) => before.deviceTime === after.deviceTime);
      if (repeats.length === 0) return skip('The TV sent no batch again.');
      return stale
        ? fail(`${shown(stale.before)}; ${shown(stale.after)}, with the same X-Device-Time.`)
        : pass(`${repeats.length} repeated batches.`);
    },
  },
];
