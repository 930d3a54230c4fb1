import type { TvExchange } from '../wire/exchange.ts';
import { fail, notMet, pass, skip, type TvCheck, type Verdict } from './check.ts';
import { type ExamView, shown } from './exam-view.ts';

const keeps = { level: 'must', section: '2.1', part: 'config' } as const;

/** Judges whether the TV continues with its key after a 401. */
function keepsKey(view: ExamView, fault: string): Verdict {
  const [refused] = view.faulted(fault);
  if (!refused) return notMet(view, fault, 'request for its config');
  const next = view.exchanges.find(
    ({ number, key, operation, atMs }) =>
      number > refused.number &&
      atMs >= refused.endMs &&
      (operation === 'registerDevice' || key !== undefined),
  );
  if (!next) return fail(`${shown(refused)}; no request followed.`);
  if (next.operation === 'registerDevice') return fail(`${shown(refused)}; ${shown(next)}.`);
  return next.key === refused.key
    ? pass(`${shown(refused)}; ${shown(next)}, with the same key.`)
    : fail(`${shown(refused)}; ${shown(next)}, with another key.`);
}

const keepAdvice =
  'Forget the key only after device_key_revoked or device_key_orphaned. Then ask for a code.';

export const isRevoked = ({ answer, end }: TvExchange) =>
  end === 'answered' && answer?.code === 'device_key_revoked';

/**
 * Maximum number of requests with the revoked key after its refusal. A TV that also has an older
 * key may try the revoked key once more.
 */
const allowedTries = 1;
/**
 * Requests that arrive within this time after the answer, in real milliseconds, do not count. The
 * TV may have sent them before it read the answer.
 */
const inFlightMs = 300;

export const credentialChecks: readonly TvCheck[] = [
  {
    ...keeps,
    id: 'tv.401.mismatch-keeps-key',
    title: 'The TV keeps its key after 401 device_key_mismatch',
    expected: 'further requests with the same key',
    advice: `${keepAdvice} Check the id in the URL.`,
    judge: (view) => keepsKey(view, 'config.401-mismatch'),
  },
  {
    ...keeps,
    id: 'tv.401.missing-keeps-key',
    needsFullExam: true,
    title: 'The TV keeps its key after 401 device_key_missing',
    expected: 'further requests with the same key',
    advice: `${keepAdvice} Check the header Authorization.`,
    judge: (view) => keepsKey(view, 'config.401-missing'),
  },
  {
    ...keeps,
    id: 'tv.401.uncoded-keeps-key',
    needsFullExam: true,
    level: 'should',
    section: '2.6',
    title: 'The TV keeps its key after a 401 from a proxy',
    expected: 'further requests with the same key',
    advice: `${keepAdvice} A 401 without an error code does not come from the service.`,
    judge: (view) => keepsKey(view, 'config.401-uncoded'),
  },
  {
    ...keeps,
    section: '2.6',
    id: 'tv.key.kept',
    title: 'The TV keeps its key when requests fail',
    expected:
      'further requests with the same key after 400, 403, 413, 500 and 503, and no registration',
    advice: keepAdvice,
    judge(view) {
      const failed = view.exchanges.filter(
        ({ fault, key }) => key !== undefined && /\.(400|403|413|500|503)/.test(fault ?? ''),
      );
      const [first] = view.registrations;
      const again = view.registrations.find(
        ({ pairingCode, atMs }) => pairingCode !== first?.pairingCode && atMs < view.revokedMs,
      );
      if (!again) {
        const later = failed.filter((one) => view.nextOf(one)?.key === one.key);
        return later.length > 0
          ? pass(`${later.length} failures, each followed by a request with the same key.`)
          : skip('No request of the TV failed.');
      }
      const last = view.exchanges.findLast(
        ({ key, atMs }) => key !== undefined && atMs < again.atMs,
      );
      // Other checks judge the loss of the key in these situations.
      return last && /^(config\.401|network|power)/.test(last.fault ?? '')
        ? skip('The TV lost its key in another situation.')
        : fail(`${last ? `${shown(last)}; ` : ''}${shown(again)}.`);
    },
  },
  {
    ...keeps,
    part: 'revoke',
    id: 'tv.401.revoked-drops-key',
    title: 'The TV forgets a key that was revoked',
    expected: 'no request with the key after 401 device_key_revoked',
    advice: 'After device_key_revoked, delete the key and ask for a pairing code.',
    judge(view) {
      const revokedMs = view.markedMs('revoked') ?? Number.POSITIVE_INFINITY;
      const refused = view.exchanges.find((one) => one.atMs >= revokedMs && isRevoked(one));
      if (!refused) return skip('The TV sent no request with its key after it was revoked.');
      const later = view.exchanges.filter(({ atMs }) => atMs > refused.endMs + inFlightMs);
      const again = later.filter(({ key }) => key === refused.key);
      const last = again.at(-1);
      if (last && again.length > allowedTries)
        return fail(
          `${shown(refused)}; ${again.length} requests with the key followed. ${shown(last)}.`,
        );
      const next = later.find(({ key }) => key !== refused.key);
      return next
        ? pass(`${shown(refused)}; ${shown(next)}.`)
        : skip(`${shown(refused)}; the TV sent no other request.`);
    },
  },
  {
    ...keeps,
    part: 'revoke',
    id: 'tv.revoke.pairs-again',
    title: 'A revoked TV can be paired again',
    expected: 'a registration with the new code',
    advice: 'Ask for a pairing code when the key is lost, without a restart.',
    judge(view) {
      const sinceMs = view.markedMs('new code');
      if (sinceMs === undefined)
        return skip('The TV was not refused as revoked, so it got no code.');
      const again = view.registrations.find(({ atMs }) => atMs >= sinceMs);
      return again
        ? pass(`Registered after ${view.span(again.endMs - sinceMs)}.`)
        : fail('No registration with the new code came.');
    },
  },
];
