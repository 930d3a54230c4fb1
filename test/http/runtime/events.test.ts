import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { heldDisk } from '../../support/disk/faulty-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { impression } from '../../support/service/content.ts';
import { mounted } from '../../support/service/mounted.ts';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type BoundTv,
  type Sent,
  startService,
  type TestService,
} from '../../support/service/service.ts';

const heartbeat = (more: object = {}) => ({ type: 'heartbeat', timestamp: 1760000000, ...more });
const kib8 = 8 * 1024;
const mib = 1024 * 1024;

let service: TestService;
let tv: BoundTv;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  tv = await service.tv();
});

const post = (body: unknown, sent: Sent = {}) => tv.send('POST', 'events', { body, ...sent });
const keyed = (key: string): Sent => ({ headers: { 'idempotency-key': key } });
/** Returns the stored events of the TV, oldest first. */
const storedRows = async () =>
  (
    await service.manage('GET', `/v1/events?deviceId=${tv.deviceId}&limit=200`)
  ).body.items.reverse();
const stored = async () => (await storedRows()).map((row: { event: unknown }) => row.event);

async function expectAccepted(body: unknown, received: number, sent: Sent = {}): Promise<void> {
  const answer = await post(body, sent);
  expect({ status: answer.status, body: answer.body }, answer.text).toEqual({
    status: 202,
    body: { received },
  });
}

async function expectRefused(body: unknown, paths: string[], sent: Sent = {}): Promise<void> {
  expectProblem(await post(body, sent), 400, 'invalid_request', paths);
  expect(await stored()).toEqual([]);
}

describe('POST /devices/:id/events', () => {
  it('202 with the number of events, and stores the batch as sent with the time of receipt', async () => {
    const batch = [impression({ duration: 15 }), heartbeat({ uptime: 1.5 })];
    service.clock.advance(1);
    const answer = await post(batch);
    expect(answer.status).toBe(202);
    expect(answer.text).toBe('{"received":2}');
    expect(answer.headers.get('content-type')).toBe('application/json');
    const now = new Date(service.clock.now()).toISOString();
    expect(await storedRows()).toEqual(
      batch.map((event) => ({
        id: expect.any(String),
        deviceId: tv.deviceId,
        screenId: tv.screenId,
        receivedAt: now,
        offsetMs: null,
        event,
      })),
    );
    const device = (await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body;
    expect(device).toMatchObject({ lastEventAt: now, lastSeenAt: now });
  });

  it('202 for members and texts of any kind, kept in order and without changes', async () => {
    const batch = [
      { zoo: { a: [{ b: null }] }, ...heartbeat(), 'ä/~': '😀', '': 1 },
      heartbeat({ constructor: { name: 'x' }, toString: 1 }),
      heartbeat({ text: 'a\ud800b' }),
      heartbeat({ text: '\u0000\n\u2028' }),
    ];
    await expectAccepted(batch, batch.length);
    expect(JSON.stringify(await stored())).toBe(JSON.stringify(batch));
  });

  it('202 with the last of duplicate members, and without members named __proto__', async () => {
    await expectAccepted(
      '[{"type":"BAD","a":1,\n"timestamp":1,"a":2,"type":"x","in":[{"\\u005f_proto__":1}]}]',
      1,
    );
    expect(await stored()).toEqual([{ type: 'x', a: 2, timestamp: 1, in: [{}] }]);
    const hidden = '[{"__proto__":{"type":"x"},"timestamp":1}]';
    expectProblem(await post(hidden), 400, 'invalid_request', ['/0/type']);
  });

  it('keeps what the clock of the TV is behind, from X-Device-Time of the accepted attempt', async () => {
    const timed = (time: unknown, key: string): Sent => ({
      headers: { 'x-device-time': String(time), 'idempotency-key': key },
    });
    const now = service.clock.now();
    await expectAccepted([heartbeat()], 1, timed(now - 5000, 'behind'));
    await expectAccepted([heartbeat()], 1, timed(now - 9000, 'behind'));
    await expectAccepted([heartbeat()], 1, timed(now + 7000, 'ahead'));
    for (const [n, wrong] of ['', 'x', '1.5', '-1', '1e3', 2 ** 53, '9'.repeat(400)].entries())
      await expectAccepted([heartbeat()], 1, timed(wrong, `wrong ${n}`));
    const offsets = (await storedRows()).map(({ offsetMs }: { offsetMs: unknown }) => offsetMs);
    expect(offsets).toEqual([5000, -7000, ...Array(7).fill(null)]);
  });

  it('counts missing and repeated sequence numbers of the device', async () => {
    const numbered = (...seqs: unknown[]) => seqs.map((seq) => heartbeat({ seq }));
    const told = async () => {
      const { body } = await service.manage('GET', `/v1/devices/${tv.deviceId}`);
      return [body.lastSeq, body.missingEvents, body.conflictingEvents];
    };
    expect(await told()).toEqual([null, 0, 0]);
    await expectAccepted(numbered(1, 2, 'three', 0, -4, 1.5, null, 2 ** 53), 8);
    expect(await told()).toEqual([2, 0, 0]);
    await expectAccepted(numbered(9, 4), 2);
    expect(await told()).toEqual([9, 5, 0]);
    expect((await post([...numbered(3), {}])).status).toBe(400);
    expect(await told()).toEqual([9, 5, 0]);
    await expectAccepted(numbered(1, 3), 2);
    expect(await told()).toEqual([9, 4, 1]);
  });

  describe('sizes', () => {
    const padded = (bytes: number, event: Record<string, unknown> = heartbeat()) => {
      const empty = JSON.stringify({ ...event, padding: '' });
      return empty.replace('"padding":""', `"padding":"${'x'.repeat(bytes - empty.length)}"`);
    };

    it('400 naming each event of more than 8 KiB as sent, with the white space in it', async () => {
      const tricky = JSON.stringify(heartbeat({ text: '],[{"\\"}{' }));
      const withInnerSpace = padded(kib8).replace('{', '{ ');
      await expectRefused(
        `[${tricky},${padded(kib8 + 1, heartbeat({ text: '"}],' }))},${tricky},${withInnerSpace}]`,
        ['/1', '/3'],
      );
      const all = Array.from({ length: 100 }, () => padded(kib8 + 1));
      await expectRefused(
        `[${all.join(',')}]`,
        all.map((_, n) => `/${n}`),
      );
    });

    it('202 for a body of 1 MiB, 413 with one byte more, with and without a Content-Length', async () => {
      const body = JSON.stringify([heartbeat()]).padEnd(mib, ' ');
      const chunked = (text: string) =>
        fetch(`${service.url}/devices/${tv.screenId}/events`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tv.apiKey}` },
          body: new Blob([text]).stream() as unknown as ReadableStream,
          duplex: 'half',
        } as RequestInit);
      expectProblem(await post(`${body} `), 413, 'body_too_large');
      expect((await chunked(`${body} `)).status).toBe(413);
      expect(await stored()).toEqual([]);
      await expectAccepted(body, 1);
      expect((await chunked(body)).status).toBe(202);
    });
  });

  describe('Idempotency-Key', () => {
    it('202 with the same response for the same key and bytes, stored and counted once', async () => {
      const batch = [impression({ duration: 15 }), heartbeat()];
      const counted = async () =>
        /signage_events_received_total (\d+)/.exec(
          (await service.send('GET', '/metrics')).text,
        )?.[1];
      const before = Number(await counted());
      for (let repeat = 0; repeat < 3; repeat++) await expectAccepted(batch, 2, keyed('batch-1'));
      expect(await stored()).toEqual(batch);
      expect(Number(await counted())).toBe(before + 2);
      const report = (await service.manage('GET', '/v1/reports/impressions?groupBy=screen')).body
        .items;
      expect(report.find((row: { key: string }) => row.key === tv.screenId)).toMatchObject({
        impressions: 1,
        seconds: 15,
      });
    });

    it.each(['', 'é', 'a\tb'])('400 header.idempotency-key for %j', async (key) =>
      expectRefused([heartbeat()], ['header.idempotency-key'], keyed(key)),
    );
  });

  it('202 for simultaneous batches, each stored whole', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => expectAccepted([heartbeat({ n }), heartbeat({ n })], 2)),
    );
    const order = (await stored()).map((event: { n: number }) => event.n);
    expect(order).toHaveLength(40);
    for (let at = 0; at < 40; at += 2) expect(order[at]).toBe(order[at + 1]);
  });

  it('503 unavailable when the batch cannot be stored, and stores nothing of it', async () => {
    const disk = heldDisk(nodeFileSystem);
    const store = await openStore(await temporaryFolder(), { disk });
    const alone = await mounted({ store });
    const { apiKey, screenId } = await alone.tv();
    // The first use of the key is stored before the disk fails.
    await alone.send('GET', `/devices/${screenId}/config`, { key: apiKey });
    disk.failing = true;
    const answer = await alone.send('POST', `/devices/${screenId}/events`, {
      key: apiKey,
      body: [heartbeat()],
      headers: { 'idempotency-key': 'lost' },
    });
    expectProblem(answer, 503, 'unavailable');
    expect((await alone.manage('GET', '/v1/events')).items).toEqual([]);
    disk.failing = false;
    await store.close();
  });
});
