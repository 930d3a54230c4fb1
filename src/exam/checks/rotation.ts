import { secondConfig } from '../parts/options.ts';
import { isGood } from '../parts/waits.ts';
import { fail, notApplicable, pass, skip, type TvCheck } from './check.ts';
import { shown } from './exam-view.ts';

const inRotation = { level: 'must', section: '2.8' } as const;
const notUsed = notApplicable('The TV did not change its key.');

export const rotationChecks: readonly TvCheck[] = [
  {
    ...inRotation,
    id: 'tv.rotate.idempotency-key',
    title: 'Each rotation has an Idempotency-Key of its own',
    expected: 'a random Idempotency-Key of 16 to 255 visible ASCII characters',
    advice: 'Make a random key for each rotation, and store it before the first attempt.',
    judge(view) {
      const sent = view.of('rotateDeviceKey');
      if (sent.length === 0) return notUsed;
      const bare = sent.find(({ isSecretIdempotencyKey }) => !isSecretIdempotencyKey);
      if (bare) return fail(`${shown(bare)}, without a valid Idempotency-Key.`);
      const deviceKeys = new Map(sent.map((one) => [one.idempotencyKey, one.key]));
      const again = sent.find((one) => deviceKeys.get(one.idempotencyKey) !== one.key);
      return again
        ? fail(`${shown(again)}, with the Idempotency-Key of another rotation.`)
        : pass(`${sent.length} rotations.`);
    },
  },
  {
    ...inRotation,
    id: 'tv.rotate.repeats-same-key',
    title: 'The TV repeats an unanswered rotation with the same Idempotency-Key',
    expected: 'a rotation with the same Idempotency-Key',
    advice: 'Repeat the rotation with the stored Idempotency-Key until an answer comes.',
    judge(view) {
      const [lost] = view.faulted('rotation.lost');
      if (!lost) return notUsed;
      const next = view.nextOf(lost);
      if (!next) return skip('The TV did not repeat the rotation in time.');
      return next.idempotencyKey !== undefined && next.idempotencyKey === lost.idempotencyKey
        ? pass(`${shown(next)}.`)
        : fail(`${shown(lost)}; ${shown(next)}, with another Idempotency-Key.`);
    },
  },
  {
    ...inRotation,
    id: 'tv.rotate.uses-new-key',
    title: 'The TV uses its new key',
    expected: 'requests with the new key, and no request with the old key',
    advice: 'Store the new key, and send only the new key from then on.',
    judge(view) {
      const [rotated] = view.of('rotateDeviceKey').filter(isGood);
      if (!rotated) return notUsed;
      const intervalMs = secondConfig.syncIntervalMinutes * view.timing.minuteMs;
      // A revoked TV may try its former key once.
      const endMs = view.markedMs('revoked') ?? Number.POSITIVE_INFINITY;
      const stale = view.exchanges.find(
        ({ key, atMs, operation }) =>
          operation !== 'rotateDeviceKey' &&
          key === rotated.key &&
          atMs > rotated.endMs + intervalMs &&
          atMs < endMs,
      );
      if (stale) return fail(`${shown(rotated)}; ${shown(stale)}, with the old key.`);
      const used = view.exchanges.find(({ key }) => key === rotated.answer?.newKey);
      return used ? pass(`${shown(used)}.`) : skip('The TV sent no request after the rotation.');
    },
  },
];
