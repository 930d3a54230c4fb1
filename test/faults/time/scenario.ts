import {
  dayMs as day,
  iso,
  minuteMs as minute,
  secondMs as second,
} from '../../../src/domain/clock.ts';
import { impression, item } from '../../support/service/content.ts';
import type { Answer, Sent } from '../../support/service/service.ts';
import { FuzzRandom } from '../fuzz/random.ts';
import type { Topology } from './topology.ts';

const ttl = 15 * minute;
/**
 * Jumps around the ends of codes and lock-outs, and larger ones as by a dead clock battery or a
 * wrong time server.
 */
const jumpsMs = [second, 5 * minute, ttl - 1, ttl, ttl + 1, day, 40 * day].flatMap((ms) => [
  ms,
  -ms,
]);
const yearsMs = [400 * day, -400 * day, -4000 * day];

interface Code {
  code: string;
  screenId: string;
  /** Its final state, if reached. */
  end: 'used' | 'cancelled' | undefined;
}

interface Tv {
  deviceId: string;
  screenId: string;
  apiKey: string;
}

/** Runs `steps` random actions with clock jumps, then closes everything. Returns the violations. */
export async function runTimeScenario(
  seed: string,
  steps: number,
  topology: Topology,
): Promise<string[]> {
  const random = new FuzzRandom(seed);
  const instances = Array.from({ length: topology.size }, (_, place) => place);
  const some = () => topology.service(random.one(instances));
  const found: string[] = [];
  const codes: Code[] = [];
  const living: Tv[] = [];
  const revoked: Tv[] = [];
  let batches = 0;
  const tokens: string[] = [];
  const claims: { claim: string; screenId: string }[] = [];

  const { id: venueId } = await some().venue();
  // Instances would give their screens the same names.
  const newScreen = () => some().screen({ venueId, name: crypto.randomUUID() });

  const due = (what: string, got: unknown, ...allowed: unknown[]) => {
    if (!allowed.includes(got))
      found.push(`${what}: ${got}, when only ${allowed.join(' or ')} may be`);
  };
  /** Returns the statuses that may follow: a claim that is gone counts as a guess. */
  const dueAfterRead = (status: number) => (status === 404 ? [404, 429] : [status]);

  /** Reads at each instance. All must answer alike. */
  async function read(path: string, sent: Sent = {}): Promise<Answer> {
    const answers: Answer[] = [];
    for (const place of instances)
      answers.push(await topology.service(place).manage('GET', path, undefined, sent));
    const [first, ...others] = answers as [Answer, ...Answer[]];
    for (const { status, body } of others) {
      due(`${path} at another instance`, status, ...dueAfterRead(first.status));
      if (status === 200) due(`the state of ${path} there`, body.status, first.body.status);
    }
    return first;
  }

  const statusOf = ({ code }: Code) => read(`/v1/devices/provisioning-codes/${code}/status`);
  const configStatus = async ({ screenId, apiKey: key }: Tv) =>
    (await read(`/devices/${screenId}/config`, { key })).status;

  /** Returns the statuses that a registration may get after this status of the code. */
  function dueAfter(
    known: { status: number; body: { status: string; expiresAt: string } },
    end: Code['end'],
  ) {
    // A finished code is forgotten after a day.
    if (known.status === 404) return [404, 429];
    // It may be forgotten between the two requests.
    if (end !== undefined) return [end === 'used' ? 409 : 410, 404];
    if (known.body.status === 'pending') return [201];
    // A day after its end, at `expiresAt` or earlier.
    const isForgotten = Date.parse(known.body.expiresAt) - ttl <= topology.now() - day;
    return isForgotten ? [410, 404] : [410];
  }

  const inTwoHours = () => topology.now() + 120 * minute;
  const labelled = { labels: { seen: 'yes' } };

  const actions = {
    async make() {
      const { id } = await newScreen();
      for (let left = random.whole(1, 2); left > 0; left--) {
        const { code } = await some().code(id);
        codes.push({ code, screenId: id, end: undefined });
      }
    },

    async register() {
      if (codes.length === 0) return;
      const one = random.one(codes);
      const known = await statusOf(one);
      const { status, body } = await some().register(one.code);
      due(`a code (${one.end ?? known.body.status})`, status, ...dueAfter(known, one.end));
      if (status !== 201) return;
      for (const other of codes)
        if (other.screenId === one.screenId) other.end = other === one ? 'used' : 'cancelled';
      living.push(body);
    },

    async revoke() {
      const tv = living.shift();
      if (!tv) return;
      const { status } = await some().manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
      due('revoke', status, 200);
      revoked.push(tv);
    },

    async play() {
      for (const tv of living) {
        due('a key that lives', await configStatus(tv), 200);
        const sent = { key: tv.apiKey, body: [impression()] };
        const posted = await some().send('POST', `/devices/${tv.screenId}/events`, sent);
        due('a batch', posted.status, 202);
        batches++;
      }
      for (const tv of revoked) due('a revoked key', await configStatus(tv), 401);
    },

    /** What a token may read, it may also change, and nothing else. */
    async useTokens() {
      const { id } = await newScreen();
      for (const token of tokens) {
        const seen = await read(`/v1/screens/${id}`, { key: token });
        const changed = await some().send('PATCH', `/v1/screens/${id}`, {
          key: token,
          body: labelled,
        });
        due('a change with a token, as its read', changed.status, seen.status);
        due('a read with a token', seen.status, 200, 401);
      }
    },

    async makeToken() {
      const body = { name: `t${tokens.length}`, role: 'admin', expiresAt: iso(inTwoHours()) };
      const made = await some().manage('POST', '/v1/tokens', body);
      due('a token for two hours', made.status, 201);
      const seen = await read('/v1/me', { key: made.body.token });
      due('its first use', seen.status, 200);
      tokens.push(made.body.token);
      if (random.happens(0.5)) return;
      const rotated = await some().manage('POST', `/v1/tokens/${made.body.id}/rotate`);
      due('its rotation', rotated.status, 200);
      tokens.push(rotated.body.token);
    },

    async makeClaim() {
      const { status, body } = await some().send('POST', '/devices/claims', {
        body: { deviceInfo: {} },
      });
      due('a claim', status, 201, 429);
      if (status === 201) claims.push({ claim: body.claim, screenId: (await newScreen()).id });
    },

    /** A claim that an installer sees can be offered a screen, and no other. */
    async offerClaims() {
      for (const { claim, screenId } of claims.splice(0)) {
        const seen = await read(`/v1/devices/claims/${claim}`);
        const path = `/v1/devices/claims/${claim}/offer`;
        const offered = await some().manage('POST', path, { screenId });
        due(
          'an offer',
          offered.status,
          ...(seen.status === 200 ? [201] : dueAfterRead(seen.status)),
        );
      }
    },

    /** A playlist plays until its end by the header Date, which is the time of the service. */
    async publish() {
      for (const { screenId, apiKey: key } of living) {
        const validUntil = Math.floor(inTwoHours() / second);
        const body = {
          items: [item()],
          validUntil,
        };
        const put = await some().manage('PUT', `/v1/screens/${screenId}/playlist`, body);
        due('a playlist for two hours', put.status, 200, 201);
        const got = await some().send('GET', `/devices/${screenId}/playlist`, { key });
        due('its first fetch', got.status, 200);
        const agoMs = topology.now() - Date.parse(got.headers.get('date') ?? '');
        const { toleranceMs } = topology;
        const isNow = agoMs >= -toleranceMs && agoMs < second + toleranceMs;
        due(`the header Date of ${agoMs} ms ago is now`, isNow, true);
      }
    },

    /** Guesses until locked out. The lock-out must end after the longest wait. */
    async guess() {
      const statuses = new Set<number>();
      for (let left = 11; left > 0; left--)
        statuses.add((await some().register(`ZZZZ${random.whole(1000, 9999)}`)).status);
      due('a guess too many', statuses.has(429), true);
      await topology.pass(ttl + second);
      due('a guess after the longest wait', (await some().register('ZZZZ9999')).status, 404);
    },

    async ends() {
      for (const one of codes) {
        const { status, body } = await statusOf(one);
        if (one.end !== undefined && status === 200)
          due(`a code that was ${one.end}`, body.status, one.end);
        else due('the status of a code', status, 200, 404);
      }
    },
  };

  /** Expects each event on exactly one page, in both orders. */
  async function pages() {
    for (const order of ['asc', 'desc']) {
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = `limit=7&order=${order}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
        const { body } = await some().manage('GET', `/v1/events?${query}`);
        ids.push(...body.items.map(({ id }: { id: string }) => id));
        cursor = body.nextCursor;
      }
      due(`events on pages, ${order}`, ids.length, batches);
      due(`different events on pages, ${order}`, new Set(ids).size, batches);
    }
  }

  const { make, register, ...others } = actions;
  const happenings = [make, make, register, register, ...Object.values(others)];
  for (let step = 0; step < steps; step++) {
    if (random.happens(0.6)) {
      const ms = random.one(random.happens(0.15) ? yearsMs : jumpsMs);
      await topology.jump(ms, random);
    }
    if (random.happens(0.1)) await some().restart();
    await random.one(happenings)();
  }
  await actions.play();
  await pages();
  await topology.close();
  return found;
}
