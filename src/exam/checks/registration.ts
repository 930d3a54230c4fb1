import type { TvExchange } from '../wire/exchange.ts';
import { fail, pass, skip, type TvCheck } from './check.ts';
import { shown } from './exam-view.ts';

const inRegister = { level: 'must', section: '3.2', part: 'register' } as const;
const none = skip('The TV sent no registration.');

/** Returns whether the service itself rejected a request as malformed. */
const isMalformed = ({ fault, answer }: TvExchange) =>
  fault === undefined && [400, 413, 415].includes(answer?.status ?? 0);

export const registrationChecks: readonly TvCheck[] = [
  {
    ...inRegister,
    id: 'tv.register.valid-request',
    section: '3.1',
    title: 'The registration is a valid request',
    expected: 'a registration that the service accepts',
    advice: 'Send pairingCode and deviceInfo as JSON. Omit unknown addresses.',
    judge(view) {
      const sent = view.of('registerDevice');
      const refused = sent.find(isMalformed);
      if (refused) return fail(`${shown(refused)}.`);
      return view.registrations.length > 0
        ? pass(`${sent.length} registrations.`)
        : fail(sent.length === 0 ? 'No registration came.' : 'No registration was accepted.');
    },
  },
  {
    ...inRegister,
    id: 'tv.register.idempotency-key',
    title: 'Each registration has an Idempotency-Key',
    expected: 'an Idempotency-Key of 16 to 255 visible ASCII characters',
    advice: 'Make a random key, such as a UUID of version 4, for each pairing code.',
    judge(view) {
      const sent = view.of('registerDevice');
      const bare = sent.find(({ isSecretIdempotencyKey }) => !isSecretIdempotencyKey);
      if (sent.length === 0) return none;
      return bare
        ? fail(`${shown(bare)}, without a valid Idempotency-Key.`)
        : pass(`${sent.length} registrations.`);
    },
  },
  {
    ...inRegister,
    id: 'tv.register.retry-after',
    section: '2.6',
    title: 'The TV waits for Retry-After before it registers again',
    expected: 'no registration before the time in Retry-After has passed',
    advice: 'After 503, wait for the number of seconds in Retry-After.',
    judge(view) {
      const [refused] = view.faulted('register.503');
      const next = refused && view.nextOf(refused);
      if (!next) return skip('The TV sent no second registration.');
      const waitedMs = next.atMs - refused.endMs;
      const seen = `Retry-After: ${refused.answer?.retryAfterSeconds}; the next after ${view.span(waitedMs)}.`;
      return view.isAfter(refused.answer?.retryAfterSeconds ?? 0, waitedMs)
        ? pass(seen)
        : fail(seen);
    },
  },
  {
    ...inRegister,
    id: 'tv.register.repeats-lost-answer',
    title: 'The TV repeats an unanswered registration with the same Idempotency-Key',
    expected: 'a registration with the same code and the same Idempotency-Key',
    advice: 'Store the code with its Idempotency-Key before the first attempt, and repeat both.',
    judge(view) {
      const [lost] = view.faulted('register.lost');
      if (!lost) return skip('The TV sent no second registration.');
      const next = view.nextOf(lost);
      if (!next || next.pairingCode !== lost.pairingCode)
        return fail(`${shown(lost)}; the TV did not repeat it.`);
      return next.idempotencyKey === lost.idempotencyKey
        ? pass(`Repeated after ${view.span(next.atMs - lost.endMs)}.`)
        : fail(`${shown(lost)}; ${shown(next)}, with another Idempotency-Key.`);
    },
  },
  {
    ...inRegister,
    id: 'tv.register.uses-key',
    section: '3.1',
    title: 'The TV uses the key of its registration',
    expected: 'a request with the apiKey of the 201',
    advice: 'Store apiKey first. Then send it as Authorization: Bearer dak_….',
    judge(view) {
      const [registered] = view.registrations;
      if (!registered) return none;
      const first = view.exchanges.find(({ key }) => key === registered.answer?.newKey);
      return first
        ? pass(`First used after ${view.span(first.atMs - registered.endMs)}.`)
        : fail(`${shown(registered)}; no request had the new key.`);
    },
  },
  {
    ...inRegister,
    id: 'tv.register.new-key-per-code',
    part: 'revoke',
    title: 'Each pairing code gets an Idempotency-Key of its own',
    expected: 'a different Idempotency-Key for each code',
    advice: 'Make a new random Idempotency-Key for each code.',
    judge(view) {
      const sent = view.of('registerDevice');
      const codes = new Set(sent.map(({ pairingCode }) => pairingCode));
      if (codes.size < 2) return skip('The TV registered with one code only.');
      const codeOf = new Map<string, string | undefined>();
      for (const one of sent) {
        const { idempotencyKey, pairingCode } = one;
        if (idempotencyKey === undefined) continue;
        if (codeOf.has(idempotencyKey) && codeOf.get(idempotencyKey) !== pairingCode)
          return fail(`${shown(one)}, with the key of another code.`);
        codeOf.set(idempotencyKey, pairingCode);
      }
      return codeOf.size > 1
        ? pass(`${codes.size} codes.`)
        : skip('The TV sent no Idempotency-Key with at least one of the codes.');
    },
  },
];
