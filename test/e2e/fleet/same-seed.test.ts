// What each TV sends follows only from the seed and the responses, never from how long those took.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Requester } from '../../../src/client/requester.ts';
import { makeUndiciRequester } from '../../../src/client/undici-requester.ts';
import { type Clock, hourMs, systemClock } from '../../../src/domain/clock.ts';
import {
  startService,
  type TestService,
  adminToken as token,
} from '../../support/service/service.ts';
import { quickFleet } from '../../support/tv/quick-fleet.ts';

let service: TestService<Clock>;
beforeAll(async () => {
  service = await startService<Clock>({ clock: systemClock });
});

/** No shared codes: which of two TVs wins depends on the service. */
const faults = [
  ...[
    'lost-request:5%',
    'lost-answer:register:30%',
    'lost-answer:rotate:30%',
    'lost-answer:10%',
    'cut-answer:5%',
    'duplicate:10%',
    'slow:100ms-10s:20%',
  ],
  ...['offline:20m every 2h', 'clock-skew:2h', 'clock-jump:10m every 3h'],
  ...['power-cut:every 1h', 'factory-reset:every 3h', 'revoked-key:every 3h'],
];

/**
 * Records what each TV sends in order, with values given by the service masked. Responses are
 * delayed at random.
 */
function makeRecorder(dawdle: () => Promise<void>) {
  const sent = new Map<string, string[]>();
  const given = new Map<string, string>();
  const tvOfKey = new Map<string, string>();
  const plain = (text: string) => {
    const ids = /dak_\w{49}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
    return text
      .replaceAll(ids, (id) => given.get(id) ?? 'id')
      .replaceAll(/"pairingCode":"\w+"/g, '"pairingCode":"code"');
  };
  const makeRequester = async (certificates: readonly string[] | undefined): Promise<Requester> => {
    const send = makeUndiciRequester(certificates);
    return async (url, parts) => {
      const key = parts.headers.authorization ?? '';
      const tv = tvOfKey.get(key) ?? JSON.parse(String(parts.body ?? '{}')).deviceInfo?.deviceName;
      const path = plain(new URL(url).pathname);
      const told = [
        parts.method,
        path,
        parts.headers['idempotency-key'] ?? '',
        parts.headers['if-none-match'] ? 'if-none-match' : '',
        plain(String(parts.body ?? '')),
      ];
      sent.set(tv, [...(sent.get(tv) ?? []), told.join(' ')]);
      await dawdle();
      const answer = await send(url, parts);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      if (url.endsWith('/keys/rotate') && answer.statusCode === 201)
        tvOfKey.set(`Bearer ${JSON.parse(text).apiKey}`, tv);
      if (url.endsWith('/register') && answer.statusCode === 201)
        tvOfKey.set(`Bearer ${JSON.parse(text).apiKey}`, tv);
      return { ...answer, body: [Buffer.from(text)] as unknown as AsyncIterable<Buffer> };
    };
  };
  return { sent, makeRequester };
}

async function record(seed: string, dawdle: () => Promise<void>): Promise<Map<string, string[]>> {
  const { sent, makeRequester } = makeRecorder(dawdle);
  const startMs = Date.UTC(2026, 0, 5);
  const report = await quickFleet({
    url: service.url,
    token,
    seed,
    count: 4,
    startMs,
    faults,
    rotateEveryMs: hourMs,
    makeRequester,
  });
  expect(report.rotations).toBeGreaterThan(4);
  expect(report.reconciliation.findings).toEqual([]);
  return sent;
}

const atOnce = async () => {};
const byChance = () => new Promise<void>((resolve) => setTimeout(resolve, Math.random() * 4));

describe('two runs with the same seed and all kinds of faults', () => {
  let one: Map<string, string[]>;
  beforeAll(async () => {
    one = await record('7', atOnce);
  });

  it('send the same requests per TV, however long the responses take', async () => {
    const other = await record('7', byChance);
    expect([...one.keys()].sort()).toEqual([1, 2, 3, 4].map((number) => `Simulated TV ${number}`));
    for (const [tv, requests] of one) {
      expect(requests.length).toBeGreaterThan(40);
      expect(other.get(tv)).toEqual(requests);
    }
  });

  it('differ from a run with another seed', async () => {
    const other = await record('8', atOnce);
    for (const [tv, requests] of one) expect(other.get(tv)).not.toEqual(requests);
  });
});
