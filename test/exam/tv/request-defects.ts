import { randomUUID } from 'node:crypto';
import { correctHabits } from './habits.ts';
import type { SeededDefect } from './seeded-defect.ts';

const { forgetsKey, retryMs } = correctHabits;

/** Defects of registration, credentials, retries and key rotation. */
export const requestDefects: Readonly<Record<string, SeededDefect>> = {
  'registers without an Idempotency-Key': {
    habits: { registrationKey: () => undefined },
    fails: ['tv.register.idempotency-key'],
  },
  'registers with a new Idempotency-Key when the 201 was lost': {
    habits: { registrationKey: () => randomUUID() },
    fails: ['tv.register.repeats-lost-answer'],
  },
  'uses one Idempotency-Key for all pairing codes': {
    habits: { registrationKey: (earlier) => earlier?.key ?? randomUUID() },
    fails: ['tv.register.new-key-per-code'],
  },
  'sends an empty MAC address': {
    habits: {
      deviceInfo: (failures) => (failures < 3 ? { macAddress: '' } : {}),
      repeatsRefusedRegistration: true,
    },
    fails: ['tv.register.valid-request'],
  },
  'registers again before Retry-After': {
    habits: {
      retryMs: (failure) =>
        retryMs(
          failure.operation === 'register' ? { ...failure, retryAfterMs: undefined } : failure,
        ),
    },
    fails: ['tv.register.retry-after'],
  },
  'puts the pairing code into the URL': {
    habits: { registrationQuery: (code) => `?code=${code}` },
    fails: ['tv.http.secret-not-in-url'],
  },
  'puts the key into the URL': {
    habits: { query: (apiKey) => `key=${apiKey}` },
    fails: ['tv.http.secret-not-in-url'],
  },
  'ignores Retry-After': {
    habits: {
      retryMs: (failure) =>
        retryMs(
          failure.operation === 'register' ? failure : { ...failure, retryAfterMs: undefined },
        ),
    },
    fails: ['tv.retry-after.honoured'],
  },
  'retries at a constant interval': {
    habits: {
      retryMs: (failure) =>
        failure.retryAfterMs === undefined && [0, 500].includes(failure.status)
          ? 2000 + 2000 * Math.random()
          : retryMs(failure),
    },
    fails: ['tv.backoff.grows'],
  },
  'retries without jitter': {
    habits: {
      retryMs: ({ retryAfterMs, failures, syncMs, status }) => {
        if (status === 403) return syncMs;
        return retryAfterMs ?? Math.min(20_000 * 2 ** (failures - 1), syncMs);
      },
    },
    fails: ['tv.backoff.jitter'],
    needsFullExam: true,
  },
  'hammers after a 403': {
    habits: { retryMs: (failure) => (failure.status === 403 ? 1000 : retryMs(failure)) },
    fails: ['tv.errors.no-hammering'],
  },
  'forgets its key after two minutes without an answer': {
    habits: {
      forgetsKey: (code, status, offlineMs) =>
        offlineMs > 120_000 || forgetsKey(code, status, offlineMs),
    },
    fails: ['tv.network.keeps-key', 'tv.network.comes-back', 'tv.network.keeps-events'],
    needsFullExam: true,
  },
  'forgets its key after a mismatch': {
    habits: {
      forgetsKey: (code, ...others) =>
        code === 'device_key_mismatch' || forgetsKey(code, ...others),
    },
    fails: ['tv.401.mismatch-keeps-key'],
  },
  'forgets its key after device_key_missing': {
    habits: {
      forgetsKey: (code, ...others) => code === 'device_key_missing' || forgetsKey(code, ...others),
    },
    fails: ['tv.401.missing-keeps-key'],
    needsFullExam: true,
  },
  'forgets its key after the 401 of a proxy': {
    habits: {
      forgetsKey: (code, status, offlineMs) =>
        (status === 401 && code === undefined) || forgetsKey(code, status, offlineMs),
    },
    fails: ['tv.401.uncoded-keeps-key'],
    needsFullExam: true,
  },
  'keeps using a revoked key': {
    habits: { forgetsKey: () => false },
    fails: ['tv.401.revoked-drops-key', 'tv.revoke.pairs-again'],
  },
  'never pairs again': {
    habits: { pairsAgain: false },
    fails: ['tv.revoke.pairs-again'],
  },
  'rotates without an Idempotency-Key': {
    habits: { rotateEveryMinutes: 3, rotationKey: () => undefined },
    fails: ['tv.rotate.idempotency-key', 'tv.rotate.repeats-same-key'],
  },
  'rotates with a new Idempotency-Key for each try': {
    habits: { rotateEveryMinutes: 3, rotationKey: () => randomUUID() },
    fails: ['tv.rotate.repeats-same-key'],
  },
  'goes on with the old key after a rotation': {
    habits: { rotateEveryMinutes: 3, usesNewKey: false },
    fails: ['tv.rotate.uses-new-key'],
  },
  'forgets its key in a power cut': {
    habits: { afterPowerCut: ({ binding: _lost, ...kept }) => kept },
    fails: ['tv.power.keeps-key'],
  },
};
