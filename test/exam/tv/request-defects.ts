import { randomUUID } from 'node:crypto';
import { systemRandom } from '../../../src/domain/clock.ts';
import {
  changesAnswers,
  changesHeader,
  changesRequests,
  codeOf,
  type Link,
  type LinkAnswer,
  linked,
  type Operation,
  problem,
  repeats,
  without,
} from './link.ts';
import type { Defects } from './seeded-defect.ts';

const key = 'idempotency-key';
const minuteMs = 60_000;
const rotating = { options: { rotateEveryMs: 3 * minuteMs } };

const ignoresRetryAfter = (isMeant: (operation: Operation) => boolean): Link =>
  changesAnswers((answer, { operation }) =>
    isMeant(operation) ? { ...answer, headers: without(answer.headers, 'retry-after') } : answer,
  );

/** Waits as if each failure named a time. */
const alwaysRetryAfter = (seconds: number): Link =>
  changesAnswers((answer) => {
    if (answer.headers['retry-after'] || (answer.status > 0 && answer.status < 500)) return answer;
    const failed = answer.status === 0 ? problem(503, 'unavailable') : answer;
    return { ...failed, headers: { ...failed.headers, 'retry-after': String(seconds) } };
  });

/** Forgets the key after an answer, as after the loss of the device. */
const forgetsKey = (isMeant: (answer: LinkAnswer) => boolean): Link =>
  changesAnswers((answer) => (isMeant(answer) ? problem(401, 'device_key_orphaned') : answer));

/** Forgets the key when there was no answer for two minutes. */
const forgetsKeyOffline: Link = (send, { clock }) => {
  let offlineSinceMs: number | undefined;
  return async (request) => {
    const answer = await send(request);
    if (answer.status !== 0) offlineSinceMs = undefined;
    else offlineSinceMs ??= clock.now();
    const isLost = offlineSinceMs !== undefined && clock.now() - offlineSinceMs > 2 * minuteMs;
    return isLost && request.operation !== 'register'
      ? problem(401, 'device_key_orphaned')
      : answer;
  };
};

/** Sends an empty MAC address three times. */
const emptyMacAddress: Link = (send) => {
  let sent = 0;
  return async (request) => {
    if (request.operation !== 'register' || sent++ >= 3) return send(request);
    const { deviceInfo: _, ...registration } = JSON.parse(request.body ?? '{}');
    const body = JSON.stringify({ ...registration, deviceInfo: { macAddress: '' } });
    const answer = await send({ ...request, body });
    return answer.status === 400 ? problem(503, 'unavailable') : answer;
  };
};

/** Sends each registration under the key of the first one. */
const oneRegistrationKey: Link = (send, tv) => {
  let first: string | undefined;
  const one = changesHeader(
    key,
    (value) => {
      first ??= value;
      return first;
    },
    'register',
  );
  return one(send, tv);
};

/** Sends each request with the key of the registration. */
const firstDeviceKey: Link = (send, tv) => {
  let first = '';
  return linked(
    changesAnswers((answer) => {
      if (answer.status === 201) first = answer.json.apiKey;
      return answer;
    }, 'register'),
    changesHeader('authorization', () => `Bearer ${first}`),
  )(send, tv);
};

/** Registers again after a power cut, before anything else is sent. */
const forgetsKeyInPowerCut: Link = (send, tv) => {
  let starts = 1;
  let authorization: string | undefined;
  return async (request) => {
    while (tv.starts !== starts) {
      const headers = { 'content-type': 'application/json', [key]: randomUUID() };
      const url = new URL('/devices/register', request.url).href;
      const body = JSON.stringify({ pairingCode: await tv.nextCode(), deviceInfo: {} });
      const registration = { ...request, operation: 'register', method: 'POST' } as const;
      const answer = await send({ ...registration, url, headers, body });
      if (answer.status === 201) {
        authorization = `Bearer ${answer.json.apiKey}`;
        starts = tv.starts;
      } else await tv.pause(2000, request.signal);
    }
    const { headers, operation } = request;
    if (operation === 'register') authorization = undefined;
    return send(authorization ? { ...request, headers: { ...headers, authorization } } : request);
  };
};

const addsToUrl = (parameter: (headers: Record<string, string>, body: string) => string): Link =>
  changesRequests((request) => {
    const joint = request.url.includes('?') ? '&' : '?';
    const added = parameter(request.headers, request.body ?? '{}');
    return added === '' ? request : { ...request, url: `${request.url}${joint}${added}` };
  });

/** Defects of registration, credentials, retries and key rotation. */
export const requestDefects: Defects = {
  'registers without an Idempotency-Key': { link: changesHeader(key, () => undefined, 'register') },
  'registers with a new Idempotency-Key when the 201 was lost': {
    link: changesHeader(key, () => randomUUID(), 'register'),
  },
  'uses one Idempotency-Key for all pairing codes': { link: oneRegistrationKey },
  'sends an empty MAC address': { link: emptyMacAddress },
  'registers again before Retry-After': {
    link: ignoresRetryAfter((operation) => operation === 'register'),
  },
  'puts the pairing code into the URL': {
    link: addsToUrl((_, body) => {
      const { pairingCode } = JSON.parse(body);
      return pairingCode === undefined ? '' : `code=${pairingCode}`;
    }),
  },
  'puts the key into the URL': {
    link: addsToUrl(({ authorization }) => authorization?.replace('Bearer ', 'key=') ?? ''),
  },
  'ignores Retry-After': { link: ignoresRetryAfter((operation) => operation !== 'register') },
  'retries at a constant interval': {
    link: repeats(({ status, headers }) =>
      headers['retry-after'] === undefined && [0, 500].includes(status)
        ? 1000 + 1000 * Math.random()
        : undefined,
    ),
  },
  'retries without jitter': {
    link: alwaysRetryAfter(20),
    // The player takes its jitter from two random bytes.
    style: {
      options: { random: (length) => systemRandom(length).fill(0, 0, Number(length === 2) * 2) },
    },
    needsFullExam: true,
  },
  'hammers after a 403': { link: repeats(({ status }) => (status === 403 ? 1000 : undefined)) },
  'forgets its key after two minutes without an answer': {
    link: forgetsKeyOffline,
    needsFullExam: true,
  },
  'forgets its key after a mismatch': {
    link: forgetsKey((answer) => codeOf(answer) === 'device_key_mismatch'),
  },
  'forgets its key after device_key_missing': {
    link: forgetsKey((answer) => codeOf(answer) === 'device_key_missing'),
    needsFullExam: true,
  },
  'forgets its key after the 401 of a proxy': {
    link: forgetsKey((answer) => answer.status === 401 && codeOf(answer) === undefined),
    needsFullExam: true,
  },
  'forgets its key after a 500 to its playlist': {
    link: changesAnswers(
      (answer) => (answer.status === 500 ? problem(401, 'device_key_orphaned') : answer),
      'playlist',
    ),
  },
  'keeps using a revoked key': {
    link: changesAnswers((answer) =>
      codeOf(answer) === 'device_key_revoked' ? problem(401, 'device_key_missing') : answer,
    ),
  },
  'never pairs again': { style: { maxCodes: 1 } },
  'rotates without an Idempotency-Key': {
    style: rotating,
    link: changesHeader(key, () => undefined, 'rotate'),
  },
  'rotates with a new Idempotency-Key for each try': {
    style: rotating,
    link: changesHeader(key, () => randomUUID(), 'rotate'),
  },
  'goes on with the old key after a rotation': { style: rotating, link: firstDeviceKey },
  'forgets its key in a power cut': { link: forgetsKeyInPowerCut },
};
