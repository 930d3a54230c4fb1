import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openStore } from '../../../src/store/open.ts';
import { impression } from '../../support/content.ts';
import { heldDisk } from '../../support/faulty-disk.ts';
import { mounted } from '../../support/mounted.ts';
import { expectProblem } from '../../support/problem.ts';
import { type BoundTv, type Sent, startService, type TestService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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
    const rows = await storedRows();
    expect(rows).toEqual(
      batch.map((event) => ({
        id: expect.any(String),
        deviceId: tv.deviceId,
        screenId: tv.screenId,
        receivedAt: now,
        offsetMs: null,
        event,
      })),
    );
    expect(JSON.stringify(rows.map((row: { event: unknown }) => row.event))).toBe(
      JSON.stringify(batch),
    );
    const device = (await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body;
    expect(device).toMatchObject({ lastEventAt: now, lastSeenAt: now });
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
    expect((await stored())[2]).toMatchObject({ seq: 'three' });
  });

  it.each([1, 2, 99, 100])('202 for %i events', async (count) => {
    await expectAccepted(
      Array.from({ length: count }, (_, n) => heartbeat({ n })),
      count,
    );
    expect((await stored()).map((event: { n: number }) => event.n)).toEqual(
      Array.from({ length: count }, (_, n) => n),
    );
  });

  it.each<[string, unknown]>([
    ['no events', []],
    ['101 events', Array.from({ length: 101 }, () => heartbeat())],
    ['a hundred thousand', Array.from({ length: 100_000 }, () => 0)],
    ['an object', heartbeat()],
    ['a text', JSON.stringify('heartbeat')],
    ['null', null],
  ])('400 invalid_request for %s', async (_, body) => {
    await expectRefused(body, ['']);
  });

  describe('an event', () => {
    it.each<[string, Record<string, unknown>]>([
      ['the smallest', { type: 'x', timestamp: 0 }],
      ['a type of 64 characters', heartbeat({ type: 'a'.repeat(64) })],
      ['every character of types', heartbeat({ type: 'az09._-' })],
      ['a time in milliseconds', heartbeat({ timestamp: 1760000000123 })],
      ['a time that is long gone, or far ahead', heartbeat({ timestamp: Number.MAX_SAFE_INTEGER })],
      [
        'ids of no version, in either case',
        impression({
          playlistId: 'FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF',
          campaignId: '00000000-0000-0000-0000-000000000000',
        }),
      ],
      [
        'null ids where none is needed',
        heartbeat({ playlistId: null, creativeId: null, campaignId: null }),
      ],
      ['ids where none is needed', heartbeat({ playlistId: randomUUID() })],
      ['an impression of 0 seconds', impression({ duration: 0 })],
      ['an impression of 14.97 seconds', impression({ duration: 14.97 })],
      ['an impression whose duration is null', impression({ duration: null })],
      ['a duration of any form on other types', heartbeat({ duration: 'PT1H' })],
      [
        'members that we do not know, before and after, in any depth',
        { zoo: { a: [{ b: null }] }, ...heartbeat(), 'ä/~': '😀', '': 1 },
      ],
      ['a member named constructor', heartbeat({ constructor: { name: 'x' }, toString: 1 })],
      ['a lone surrogate', heartbeat({ text: 'a\ud800b' })],
      ['control characters', heartbeat({ text: '\u0000\n\u2028' })],
    ])('202 for %s, kept as it came', async (_, event) => {
      await expectAccepted([event], 1);
      expect(await stored()).toEqual([event]);
      expect(Object.keys((await stored())[0])).toEqual(Object.keys(event));
    });

    it.each<[string, unknown, string[]]>([
      ['no object', 1, ['/0']],
      ['null', null, ['/0']],
      ['an array', [], ['/0']],
      ['nothing', {}, ['/0/type', '/0/timestamp']],
      ['a type in upper case', heartbeat({ type: 'Heartbeat' }), ['/0/type']],
      ['an empty type', heartbeat({ type: '' }), ['/0/type']],
      ['a type of 65 characters', heartbeat({ type: 'a'.repeat(65) }), ['/0/type']],
      ['a type with a line break', heartbeat({ type: 'a\n' }), ['/0/type']],
      ['a type that is no text', heartbeat({ type: 1 }), ['/0/type']],
      ['a timestamp that is a text', heartbeat({ timestamp: '1760000000' }), ['/0/timestamp']],
      ['a timestamp with a fraction', heartbeat({ timestamp: 1.5 }), ['/0/timestamp']],
      ['a timestamp before 1970', heartbeat({ timestamp: -1 }), ['/0/timestamp']],
      ['a timestamp beyond the safe integers', heartbeat({ timestamp: 2 ** 53 }), ['/0/timestamp']],
      ['a timestamp of null', heartbeat({ timestamp: null }), ['/0/timestamp']],
      [
        'an impression without ids',
        { type: 'impression', timestamp: 1 },
        ['/0/playlistId', '/0/creativeId', '/0/campaignId'],
      ],
      [
        'an impression without a campaign',
        impression({ campaignId: undefined }),
        ['/0/campaignId'],
      ],
      [
        'an impression with null for a creative',
        impression({ creativeId: null }),
        ['/0/creativeId'],
      ],
      ['an id that is none', impression({ playlistId: 'nonsense' }), ['/0/playlistId']],
      ['an id that is none where none is needed', heartbeat({ campaignId: 7 }), ['/0/campaignId']],
      ['an impression of negative seconds', impression({ duration: -1 }), ['/0/duration']],
      ['an impression whose duration is a text', impression({ duration: '15' }), ['/0/duration']],
    ])('400 invalid_request for %s', async (_, event, paths) => {
      await expectRefused([event], paths);
    });

    it('400 invalid_request for a duration that overflows a number', async () => {
      await expectRefused(
        JSON.stringify([impression({ duration: 7 })]).replace('"duration":7', '"duration":1e999'),
        ['/0/duration'],
      );
    });

    it('400 naming each invalid event, and stores no event of the batch', async () => {
      const batch = [
        heartbeat(),
        heartbeat({ type: '' }),
        impression(),
        heartbeat({ timestamp: 'x', campaignId: 1 }),
      ];
      await expectRefused(batch, ['/1/type', '/3/timestamp', '/3/campaignId']);
    });
  });

  describe('sizes', () => {
    const padded = (bytes: number, event: Record<string, unknown> = heartbeat()) => {
      const empty = JSON.stringify({ ...event, padding: '' });
      return empty.replace('"padding":""', `"padding":"${'x'.repeat(bytes - empty.length)}"`);
    };

    it('202 for an event of 8 KiB as sent, 400 with one byte more', async () => {
      await expectRefused(`[${padded(kib8 + 1)}]`, ['/0']);
      await expectAccepted(`[${padded(kib8)}]`, 1);
    });

    it('counts bytes, not characters, and escapes as they were sent', async () => {
      const wide = (count: number) => `{"type":"x","timestamp":1,"p":"${'ä'.repeat(count)}"}`;
      const escaped = (count: number) =>
        `{"type":"x","timestamp":1,"p":"${'\\u0061'.repeat(count)}"}`;
      await expectRefused(`[${wide(4080)}]`, ['/0']);
      await expectRefused(`[${escaped(1360)}]`, ['/0']);
      await expectAccepted(`[${wide(4079)},${escaped(1359)}]`, 2);
    });

    it('counts the white space inside an event, but not around it', async () => {
      await expectAccepted(`[\n  ${padded(kib8)} ,\r\n\t${padded(kib8)}\n]`, 2);
      const withInnerSpace = padded(kib8).replace('{', '{ ');
      expectProblem(await post(`[${withInnerSpace}]`), 400, 'invalid_request', ['/0']);
    });

    it('400 naming each event that is too large, even with brackets and quotes in texts', async () => {
      const tricky = JSON.stringify(heartbeat({ text: '],[{"\\"}{' }));
      await expectRefused(
        `[${tricky},${padded(kib8 + 1, heartbeat({ text: '"}],' }))},${tricky},${padded(kib8 + 1)}]`,
        ['/1', '/3'],
      );
    });

    it('400 naming each of 100 events that are too large', async () => {
      const batch = `[${Array.from({ length: 100 }, () => padded(kib8 + 1)).join(',')}]`;
      await expectRefused(
        batch,
        Array.from({ length: 100 }, (_, n) => `/${n}`),
      );
    });

    it('202 for 100 events of 8 KiB', async () => {
      await expectAccepted(`[${Array.from({ length: 100 }, () => padded(kib8)).join(',')}]`, 100);
    });

    it('202 for a body of 1 MiB, 413 body_too_large with one byte more, with and without a Content-Length', async () => {
      const body = JSON.stringify([heartbeat()]).padEnd(mib, ' ');
      const chunked = (text: string) => new Blob([text]).stream() as unknown;
      const send = (stream: unknown) =>
        fetch(`${service.url}/devices/${tv.screenId}/events`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tv.apiKey}` },
          body: stream as ReadableStream,
          duplex: 'half',
        } as RequestInit);
      expectProblem(await post(`${body} `), 413, 'body_too_large');
      expect((await send(chunked(`${body} `))).status).toBe(413);
      expect(await stored()).toEqual([]);
      await expectAccepted(body, 1);
      expect((await send(chunked(body))).status).toBe(202);
    });
  });

  describe('JSON', () => {
    it.each<[string, unknown]>([
      ['nothing', undefined],
      ['an empty text', ''],
      ['white space', ' \n'],
      ['a list that is cut off', '[{"type":"x","timestamp":1}'],
      ['a comma too many', '[{"type":"x","timestamp":1},]'],
      ['NaN', '[{"type":"x","timestamp":NaN}]'],
      ['a comment', '[/* x */]'],
      ['something behind it', '[{"type":"x","timestamp":1}] x'],
      ['a raw line break in a text', '[{"type":"x","timestamp":1,"a":"\n"}]'],
      ['lines of JSON', '{"type":"x","timestamp":1}\n{"type":"x","timestamp":1}'],
      ['a byte order mark', '\ufeff[{"type":"x","timestamp":1}]'],
      [
        'a bad byte',
        Buffer.concat([
          Buffer.from('[{"type":"x","timestamp":1,"a":"'),
          Buffer.from([0xe4]),
          Buffer.from('"}]'),
        ]),
      ],
      [
        'an overlong form',
        Buffer.concat([
          Buffer.from('[{"type":"x","timestamp":1,"a":"'),
          Buffer.from([0xc0, 0xaf]),
          Buffer.from('"}]'),
        ]),
      ],
      [
        'an encoded surrogate',
        Buffer.concat([
          Buffer.from('[{"type":"x","timestamp":1,"a":"'),
          Buffer.from([0xed, 0xa0, 0x80]),
          Buffer.from('"}]'),
        ]),
      ],
      ['UTF-16', Buffer.from('[{"type":"x","timestamp":1}]', 'utf16le')],
      ['gzip', gzipSync('[{"type":"x","timestamp":1}]')],
      [
        'an event nested 64 deep',
        `[{"type":"x","timestamp":1,"a":${'['.repeat(63)}${']'.repeat(63)}}]`,
      ],
      ['half a million brackets', '['.repeat(500_000)],
    ])('400 invalid_json for %s', async (_, body) => {
      expectProblem(await post(body), 400, 'invalid_json');
      expect(await stored()).toEqual([]);
    });

    it('202 for an event nested 63 deep, and brackets in texts do not count', async () => {
      await expectAccepted(
        `[{"type":"x","timestamp":1,"a":${'['.repeat(62)}${']'.repeat(62)},"b":"${'['.repeat(100)}"}]`,
        1,
      );
    });

    it('202 with the last of duplicate members', async () => {
      await expectAccepted('[{"type":"BAD","a":1,"timestamp":1,"a":2,"type":"x"}]', 1);
      expect(await stored()).toEqual([{ type: 'x', a: 2, timestamp: 1 }]);
    });

    it('400 when the last of duplicate members is wrong', async () => {
      await expectRefused('[{"type":"x","timestamp":1,"type":"BAD"}]', ['/0/type']);
    });

    it.each(['__proto__', '\\u005f_proto__', '\\u005F\\u005fproto\\u005f\\u005f'])(
      '202 and drops members named %s at any depth',
      async (name) => {
        await expectAccepted(
          `[{"${name}":{"type":"y"},"type":"x","timestamp":1,"in":[{"${name}":1,"a":2}]}]`,
          1,
        );
        expect((await service.manage('GET', `/v1/events?deviceId=${tv.deviceId}`)).text).toContain(
          '"event":{"type":"x","timestamp":1,"in":[{"a":2}]}',
        );
      },
    );

    it('400 for an event whose type is only in __proto__', async () => {
      await expectRefused('[{"__proto__":{"type":"x"},"timestamp":1}]', ['/0/type']);
    });

    it('202 for any line breaks between tokens', async () => {
      await expectAccepted('\r\n[\n{"type"\r:"x",\n"timestamp":1}\r\n]\n', 1);
      expect(await stored()).toEqual([{ type: 'x', timestamp: 1 }]);
    });
  });

  describe('Content-Type', () => {
    it.each([
      'application/json',
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      'application/problem+json',
      'application/vnd.x+json;v=1',
    ])('202 for %s', async (type) =>
      expectAccepted([heartbeat()], 1, { headers: { 'content-type': type } }),
    );
    it('202 without one', () => expectAccepted([heartbeat()], 1, { untyped: true }));

    it.each([
      'text/json',
      'text/plain',
      'application/x-ndjson',
      'application/json-seq',
      'application/jsonx',
      'application/+',
      '+json',
      '',
      ';',
    ])('415 unsupported_media_type for "%s"', async (type) => {
      expectProblem(
        await post([heartbeat()], { headers: { 'content-type': type } }),
        415,
        'unsupported_media_type',
      );
      expect(await stored()).toEqual([]);
    });

    it('400 invalid_json, not 415, for an empty body of another type', async () => {
      expectProblem(
        await tv.send('POST', 'events', { headers: { 'content-type': 'text/plain' } }),
        400,
        'invalid_json',
      );
    });

    it('415 for a compressed body, 202 for Content-Encoding: identity', async () => {
      const bytes = gzipSync(JSON.stringify([heartbeat()]));
      expectProblem(
        await post(bytes, { headers: { 'content-encoding': 'gzip' } }),
        415,
        'unsupported_media_type',
      );
      await expectAccepted([heartbeat()], 1, { headers: { 'content-encoding': 'Identity' } });
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

    it('202 for all of many simultaneous repetitions, stored once', async () => {
      const batch = [heartbeat()];
      await Promise.all(
        Array.from({ length: 30 }, () => expectAccepted(batch, 1, keyed('at once'))),
      );
      expect(await stored()).toEqual(batch);
    });

    it('400 idempotency_key_reused for other bytes, even with the same meaning', async () => {
      await expectAccepted([heartbeat({ n: 1 })], 1, keyed('reused'));
      expectProblem(
        await post([heartbeat({ n: 2 })], keyed('reused')),
        400,
        'idempotency_key_reused',
      );
      expectProblem(
        await post(`${JSON.stringify([heartbeat({ n: 1 })])} `, keyed('reused')),
        400,
        'idempotency_key_reused',
      );
      expect(await stored()).toEqual([heartbeat({ n: 1 })]);
    });

    it('is not used up by a rejected batch', async () => {
      expectProblem(
        await post([heartbeat({ type: '' })], keyed('refused')),
        400,
        'invalid_request',
      );
      expectProblem(await post('[', keyed('refused')), 400, 'invalid_json');
      await expectAccepted([heartbeat()], 1, keyed('refused'));
    });

    it('is not used up by reuse, and the first batch can still be repeated', async () => {
      await expectAccepted([heartbeat({ n: 1 })], 1, keyed('again'));
      expectProblem(
        await post([heartbeat({ n: 2 })], keyed('again')),
        400,
        'idempotency_key_reused',
      );
      await expectAccepted([heartbeat({ n: 1 })], 1, keyed('again'));
    });

    it('is separate for each device', async () => {
      await expectAccepted([heartbeat({ n: 1 })], 1, keyed('shared'));
      const other = await service.tv();
      expect(
        (await other.send('POST', 'events', { body: [heartbeat({ n: 2 })], ...keyed('shared') }))
          .status,
      ).toBe(202);
    });

    it('is remembered for the last 128 batches of the device', async () => {
      for (let n = 0; n <= 127; n++) await expectAccepted([heartbeat({ n })], 1, keyed(`key ${n}`));
      expectProblem(
        await post([heartbeat({ n: -1 })], keyed('key 0')),
        400,
        'idempotency_key_reused',
      );
      await expectAccepted([heartbeat({ n: 128 })], 1, keyed('key 128'));
      expectProblem(
        await post([heartbeat({ n: -1 })], keyed('key 1')),
        400,
        'idempotency_key_reused',
      );
      await expectAccepted([heartbeat({ n: 0 })], 1, keyed('key 0'));
      expect(await stored()).toHaveLength(130);
    });

    it('batches without it are stored each time', async () => {
      await expectAccepted([heartbeat()], 1);
      await expectAccepted([heartbeat()], 1);
      expect(await stored()).toHaveLength(2);
    });

    it.each(['x', 'with a space', '~'.repeat(255)])('202 for the key "%s"', async (key) =>
      expectAccepted([heartbeat()], 1, keyed(key)),
    );
    it.each([
      ['nothing', ''],
      ['256 characters', 'x'.repeat(256)],
      ['a letter beyond ASCII', 'é'],
      ['a tab', 'a\tb'],
    ])('400 header.idempotency-key for %s', async (_, key) =>
      expectRefused([heartbeat()], ['header.idempotency-key'], keyed(key)),
    );
  });

  it('202 for two simultaneous batches, each stored whole', async () => {
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
    const send = () =>
      alone.send('POST', `/devices/${screenId}/events`, {
        key: apiKey,
        body: [heartbeat()],
        headers: { 'idempotency-key': 'lost' },
      });
    expectProblem(await send(), 503, 'unavailable');
    expect((await alone.manage('GET', '/v1/events')).items).toEqual([]);
    disk.failing = false;
    await store.close();
  });

  it('stores nothing when the body is aborted, and does not count as a service error', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const text = JSON.stringify([heartbeat()]);
    socket.write(
      `POST /devices/${tv.screenId}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tv.apiKey}\r\nContent-Length: ${text.length + 10}\r\n\r\n${text}`,
    );
    const errors = async () =>
      /operation="postEvents",status="500"/.test((await service.send('GET', '/metrics')).text);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await stored()).toEqual([]);
    expect(await errors()).toBe(false);
  });
});
