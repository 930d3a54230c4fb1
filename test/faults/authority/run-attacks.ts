// Attacks with credentials that are revoked during a request.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Clock } from '../../../src/domain/clock.ts';
import { impression, item } from '../../support/service/content.ts';
import { lateRequest } from '../../support/service/late-request.ts';
import { type Answer, sendTo, type TestService } from '../../support/service/service.ts';

type Service = TestService<Clock>;

/** The services of the attacker and of the revoker, and the number of the attempt. */
interface Try {
  attacked: Service;
  other: Service;
  services: readonly Service[];
  place: number;
}

/** The status of the attacker's request, and its effect. */
interface Outcome {
  status: number;
  left: unknown[];
}

const atOnce = 8;
/** From 0 to a delay after which the service has started the request. */
const waitMs = (place: number) => place % 20;
/** Long enough for a request to be held. */
const heldMs = 30;

async function succeeded(
  answer: Promise<Pick<Answer, 'status' | 'text' | 'body'>>,
): Promise<Answer['body']> {
  const { status, text, body } = await answer;
  if (status < 200 || status > 299)
    throw new Error(`A step of the attack was answered ${status} ${text}`);
  return body;
}

const newToken = (service: Service, role: string) =>
  succeeded(service.manage('POST', '/v1/tokens', { name: randomUUID(), role }));

/** Sends half of a request, revokes its credential, and then sends the rest. */
async function halfSent(
  { attacked, place }: Try,
  { path, key, body }: { path: string; key: string; body: unknown },
  takeAway: () => Promise<Answer>,
): Promise<number> {
  const { begun, finish } = lateRequest(attacked.url, {
    method: 'POST',
    path,
    key,
    body,
    chunked: place % 2 === 0,
  });
  await begun;
  await sleep(waitMs(place));
  await succeeded(takeAway());
  return (await finish()).status;
}

/** Lets a request wait, deletes its token, and then triggers the answer. */
async function held(
  { attacked, other }: Try,
  path: string,
  settle: () => Promise<Answer>,
): Promise<Outcome> {
  const { id, token } = await newToken(other, 'viewer');
  const answer = sendTo(attacked.url, 'GET', path, { key: token });
  await sleep(heldMs);
  await succeeded(other.manage('DELETE', `/v1/tokens/${id}`));
  await succeeded(settle());
  const { status } = await answer;
  return { status, left: [] };
}

async function newTv({ other }: Try, venueId: string) {
  const screen = await other.screen({ venueId, name: randomUUID() });
  return other.tv(screen.id);
}

/** Attacks by target. */
const attacks = {
  async 'a deleted token makes a successor'(one: Try): Promise<Outcome> {
    const { id, token } = await newToken(one.other, 'admin');
    const name = randomUUID();
    const request = { path: '/v1/tokens', key: token, body: { name, role: 'admin' } };
    const status = await halfSent(one, request, () =>
      one.other.manage('DELETE', `/v1/tokens/${id}`),
    );
    return {
      status,
      left: (await succeeded(one.other.manage('GET', `/v1/tokens?name=${name}`))).items,
    };
  },

  async 'a revoked TV has a batch stored'(one: Try, venueId: string): Promise<Outcome> {
    const { deviceId, screenId, apiKey } = await newTv(one, venueId);
    const request = { path: `/devices/${screenId}/events`, key: apiKey, body: [impression()] };
    const status = await halfSent(one, request, () =>
      one.other.manage('POST', `/v1/devices/${deviceId}/revoke`, {}),
    );
    return {
      status,
      left: (await succeeded(one.other.manage('GET', `/v1/events?deviceId=${deviceId}`))).items,
    };
  },

  async 'a deleted token reads the status of a code'(one: Try, venueId: string): Promise<Outcome> {
    const { code } = await one.other.code(
      (await one.other.screen({ venueId, name: randomUUID() })).id,
    );
    return held(one, `/v1/devices/provisioning-codes/${code}/status?waitSeconds=10`, () =>
      one.other.register(code),
    );
  },

  async 'a deleted token reads events'(one: Try, venueId: string): Promise<Outcome> {
    const { deviceId, send } = await newTv(one, venueId);
    return held(one, `/v1/events?deviceId=${deviceId}&waitSeconds=10`, () =>
      send('POST', 'events', { body: [impression()] }),
    );
  },

  async 'a revoked TV gets a playlist after its held request'(
    one: Try,
    venueId: string,
  ): Promise<Outcome> {
    const { deviceId, screenId, apiKey } = await newTv(one, venueId);
    const get = (what: string) =>
      sendTo(one.attacked.url, 'GET', `/devices/${screenId}/${what}`, { key: apiKey });
    await succeeded(
      one.other.manage('PUT', `/v1/screens/${screenId}/playlist`, { items: [item()] }),
    );
    const { cursor } = await succeeded(get('changes'));
    const answer = get(`changes?after=${cursor}&waitSeconds=50`);
    await sleep(heldMs);
    await succeeded(one.other.manage('POST', `/v1/devices/${deviceId}/revoke`, {}));
    const { status } = await answer;
    const playlist = await get('playlist');
    return { status, left: playlist.status === 401 ? [] : [playlist.text] };
  },

  /** A call that begins after the answer to the revocation is 401, whichever instance is asked. */
  async 'a revoked TV calls on'(one: Try, venueId: string): Promise<Outcome> {
    const { deviceId, screenId, apiKey } = await newTv(one, venueId);
    let isOver = false;
    const callOn = async ({ url }: Service) => {
      for (const after: Answer[] = []; ; ) {
        const isLate = isOver;
        const answer = await sendTo(url, 'GET', `/devices/${screenId}/config`, { key: apiKey });
        if (isLate && after.push(answer) === 2) return after;
      }
    };
    const calls = one.services.map(callOn);
    await succeeded(one.other.manage('POST', `/v1/devices/${deviceId}/revoke`, {}));
    isOver = true;
    const late = (await Promise.all(calls)).flat();
    return { status: 401, left: late.filter(({ status }) => status !== 401) };
  },
};

/** Number of attempts of each attack, how many got 401, and the other statuses. */
export type Attacked = Record<
  keyof typeof attacks,
  { tries: number; refused: number; successes: string[] }
>;

/** Runs each attack several times. The credential is revoked at the next instance. */
export async function runAttacks(services: readonly Service[], tries: number): Promise<Attacked> {
  const turns = pLimit(atOnce);
  const at = (place: number) => services[place % services.length] as Service;
  const { id: venueId } = await at(0).venue({ name: randomUUID() });
  const run = async ([name, attack]: [string, (one: Try, venueId: string) => Promise<Outcome>]) => {
    const outcomes = await Promise.all(
      Array.from({ length: tries }, (_, place) =>
        turns(() =>
          attack({ attacked: at(place), other: at(place + 1), services, place }, venueId),
        ),
      ),
    );
    const refused = outcomes.filter(({ status, left }) => status === 401 && left.length === 0);
    const successes = outcomes
      .filter((one) => !refused.includes(one))
      .map(({ status, left }) => `${status}, left ${left.length}`);
    return [name, { tries, refused: refused.length, successes }];
  };
  const all: unknown[][] = [];
  for (const attack of Object.entries(attacks)) all.push(await run(attack));
  return Object.fromEntries(all) as Attacked;
}
