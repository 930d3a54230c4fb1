import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRecording } from '../../src/cli/record/recording.ts';
import { type Clock, hourMs, systemClock } from '../../src/domain/clock.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { json, stubService } from '../support/network/stub-service.ts';
import { impression, item } from '../support/service/content.ts';
import { type Recorded, recordWhile } from '../support/service/record-while.ts';
import { adminToken, sendTo, startService, type TestService } from '../support/service/service.ts';
import { quickFleet } from '../support/tv/quick-fleet.ts';

type Service = TestService<Clock>;

const start = () => startService<Clock>({ clock: systemClock });

let service: Service;
beforeAll(async () => {
  service = await start();
});

/** Returns all stored events in order of time and number. */
async function storedEvents({ manage }: Service) {
  const items: { offsetMs: number; event: Record<string, unknown> }[] = [];
  let cursor = '';
  do {
    const { body } = await manage('GET', `/v1/events?limit=200${cursor}`);
    items.push(...body.items);
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  const orderOf = ({ event }: (typeof items)[number]) =>
    JSON.stringify([event.timestamp, event.seq, event.type, event.creativeId]);
  return items.toSorted((one, other) => orderOf(one).localeCompare(orderOf(other)));
}

/** Returns what a service knows of its TVs, without the ids that differ from service to service. */
async function telemetryOf(of: Service) {
  const report = async (groupBy: string) => {
    const { body } = await of.manage('GET', `/v1/reports/impressions?groupBy=${groupBy}`);
    // The last digit of a sum depends on the order of its numbers.
    return body.items.map((one: { seconds: number }) => ({
      ...one,
      seconds: one.seconds.toFixed(3),
    }));
  };
  const devices = (await of.manage('GET', '/v1/devices?limit=200')).body.items;
  const counts: number[][] = devices.map((one: Record<string, number>) => [
    one.lastSeq,
    one.missingEvents,
    one.conflictingEvents,
  ]);
  return {
    events: (await storedEvents(of)).map(({ event }) => event),
    reports: await Promise.all(['creative', 'campaign', 'day'].map(report)),
    devices: counts.map(String).toSorted(),
  };
}

/** Creates a screen with a playlist and a code. */
async function place({ code, manage }: Service) {
  const created = await code();
  const items = [item(), item()];
  await manage('PUT', `/v1/screens/${created.screenId}/playlist`, { items });
  return created;
}

/** Replays a recording at once, with new codes of the service. Returns the rows of the result. */
async function replay(
  { file }: Pick<Recorded, 'file'>,
  to: Service,
  codes = 1,
  argv: readonly string[] = ['--speed', 'max'],
) {
  const places = await Promise.all(Array.from({ length: codes }, () => place(to)));
  const stdin = places.map(({ code }) => code).join('\n');
  const words = ['replay', file, '--code', '-', '-o', 'ndjson', ...argv];
  const run = await runCli(words, { stdin, env: { SIGNAGE_URL: to.url } });
  for (const { code } of places) expect(run.stdout + run.stderr).not.toContain(code);
  const rows = run.ndjson.map(
    ({ operation, recorded, now, requests }) => `${operation} ${recorded} → ${now} × ${requests}`,
  );
  const different = run.ndjson.filter(({ differs }) => differs);
  return { ...run, rows, different, places };
}

/** The life of fleets. Their rare faults come several times in it. */
const short = { lifeMs: 2 * hourMs };

const tv = (url: string, argv: readonly string[]) =>
  runCli(['tv', ...argv], { env: { SIGNAGE_URL: url } });

describe('a replay of a recording ends in the same events, reports and gaps', () => {
  it('of signage tv, which rotates its key, and every answer is as recorded', async () => {
    const [then, now] = [await start(), await start()];
    const { code } = await place(then);
    const recording = await recordWhile(then.url, (url) =>
      tv(url, ['--code', code, '--speed', '600', '--duration', '2s', '--rotate-every', '5m']),
    );
    const { code: exitCode, different } = await replay(recording, now);
    expect(different).toEqual([]);
    expect(exitCode).toBe(0);
    const telemetry = await telemetryOf(then);
    expect(telemetry.events.length).toBeGreaterThan(10);
    expect(await telemetryOf(now)).toEqual(telemetry);
    const offsets = (await storedEvents(then)).map(({ offsetMs }) => offsetMs);
    const replayed = (await storedEvents(now)).map(({ offsetMs }) => offsetMs);
    expect(Math.abs(offsets.at(-1) ?? 0)).toBeGreaterThan(60_000);
    for (const [at, offsetMs] of offsets.entries())
      expect(Math.abs(offsetMs - (replayed[at] ?? 0))).toBeLessThan(2000);
  });

  it('of a fleet on a bad network, and every answer is as recorded', async () => {
    const [then, now] = [await start(), await start()];
    const places = [await place(then), await place(then)];
    const faults = [
      'lost-answer:events:20%',
      'lost-request:all:10%',
      'duplicate:events:20%',
      'cut-answer:all:10%',
      'power-cut:1m:every 25m',
    ];
    const codes = places.map(({ code }) => code);
    const recording = await recordWhile(then.url, (url) =>
      quickFleet({ url, codes, faults, lifeMs: hourMs, rotateEveryMs: hourMs / 3, compare: false }),
    );
    const { code, different } = await replay(recording, now, codes.length);
    expect(different).toEqual([]);
    expect(code).toBe(0);
    const telemetry = await telemetryOf(then);
    expect(telemetry.events.length).toBeGreaterThan(20);
    expect(await telemetryOf(now)).toEqual(telemetry);
  });

  it('of a fleet that is managed, reset and paired again', async () => {
    const [then, now] = [await start(), await start()];
    const faults = ['factory-reset:every 40m', 'lost-answer:register:30%', 'clock-skew:10m'];
    const recording = await recordWhile(then.url, (url) =>
      quickFleet({ url, token: adminToken, faults, count: 2, ...short, compare: false }),
    );
    const registrations = recording.exchanges.filter(
      ({ operation, status }) => operation === 'registerDevice' && status === 201,
    );
    const codes = new Set(registrations.map(({ request }) => JSON.stringify(request.json)));
    expect(codes.size).toBeGreaterThan(3);
    const { stderr } = await replay(recording, now, codes.size);
    expect(stderr).toMatch(/Left out \d+ requests to \/v1\./);
    const telemetry = await telemetryOf(then);
    expect(telemetry.events.length).toBeGreaterThan(20);
    // The fleet deletes its screens and devices at the end.
    const { events, reports } = await telemetryOf(now);
    expect({ events, reports }).toEqual({ events: telemetry.events, reports: telemetry.reports });
  });

  it('of a service that fails, loses answers and breaks connections', async () => {
    // The last batch gets its answer: a recording cannot tell whether the service stored a batch
    // whose answer was lost and that the TV never sent again.
    const faults = [
      'POST /devices/*/events=500:first 6',
      'POST /devices/*/events=lose:first 12',
      'POST /devices/register=lose:first 2',
      'GET /devices/*/playlist=503 retry 1s:20%',
      'POST /devices/*/events=truncate:first 16',
    ];
    const then = await startService<Clock>({ clock: systemClock, faults });
    const now = await start();
    const { code } = await place(then);
    const recording = await recordWhile(then.url, (url) =>
      quickFleet({ url, codes: [code], ...short, compare: false }),
    );
    const { code: exitCode } = await replay(recording, now);
    expect(exitCode).toBe(9);
    const telemetry = await telemetryOf(then);
    expect(telemetry.events.length).toBeGreaterThan(20);
    expect(await telemetryOf(now)).toEqual(telemetry);
  });
});

/** Records requests of a paired TV, without its registration. */
async function recordPaired(
  work: (send: (...request: string[]) => Promise<unknown>) => Promise<unknown>,
) {
  const paired = await service.tv();
  const recording = await recordWhile(service.url, (url) =>
    work((method = '', what = '', header = '', value = '') =>
      sendTo(url, method, `/devices/${paired.screenId}/${what}`, {
        key: paired.apiKey,
        headers: header === '' ? {} : { [header]: value },
        ...(method === 'POST' && { body: [impression()] }),
      }),
    ),
  );
  return { ...recording, paired };
}

describe('signage replay', () => {
  it('registers a TV that was paired before the recording began', async () => {
    const recording = await recordPaired((send) => send('POST', 'events'));
    const { code, rows, places } = await replay(recording, service);
    expect({ code, rows }).toEqual({ code: 0, rows: ['postEvents 202 → 202 × 1'] });
    const { body } = await service.manage('GET', `/v1/events?screenId=${places[0]?.screenId}`);
    expect(body.items.length).toBe(1);
  });

  it('sends the ETag and the cursor of the present answers, and waits less when it is fast', async () => {
    const { screenId, code } = await place(service);
    const recording = await recordWhile(service.url, async (url) => {
      const { body } = await service.send('POST', '/devices/register', {
        body: { pairingCode: code, deviceInfo: {} },
      });
      const get = (what: string, headers = {}) =>
        sendTo(url, 'GET', `/devices/${screenId}/${what}`, { key: body.apiKey, headers });
      const etag = (await get('playlist')).headers.get('etag') ?? '';
      await get('playlist', { 'if-none-match': `"other", ${etag}` });
      const { cursor } = (await get('changes')).body;
      await get(`changes?after=${cursor}&waitSeconds=2`);
    });
    const startedMs = performance.now();
    const { code: exitCode, rows } = await replay(recording, service);
    expect(rows).toEqual([
      'getPlaylist 200 → 200 × 1',
      'getPlaylist 304 → 304 × 1',
      'getDeviceChanges 200 → 200 × 2',
    ]);
    expect(exitCode).toBe(0);
    expect(performance.now() - startedMs).toBeGreaterThan(700);
  });

  it('pairs a TV that showed a claim, and shows no claim, secret or code in the recording', async () => {
    const { screenId } = await place(service);
    const secrets: string[] = [];
    const recording = await recordWhile(service.url, async (url) => {
      const made = await sendTo(url, 'POST', '/devices/claims', { body: { deviceInfo: {} } });
      const { claim, token } = made.body;
      const path = `/v1/devices/claims/${claim}`;
      const management = { key: adminToken };
      await sendTo(url, 'GET', path, management);
      await sendTo(url, 'POST', `${path}/offer`, { ...management, body: { screenId } });
      const status = await sendTo(url, 'GET', `/devices/claims/${claim}?waitSeconds=1`, {
        key: token,
      });
      const { pairingCode } = status.body;
      await sendTo(url, 'POST', '/devices/register', { body: { pairingCode, deviceInfo: {} } });
      secrets.push(claim, token, pairingCode);
    });
    for (const secret of secrets) expect(recording.text + recording.stderr).not.toContain(secret);
    expect(recording.exchanges.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(recording.text).toContain('/devices/claims/claim_#1?waitSeconds=1');
    const { code, rows } = await replay(recording, service);
    expect(rows).toEqual([
      'createClaim 201 → 201 × 1',
      'registerDevice 201 → 201 × 1',
      'getClaimStatus 200 → 200 × 1',
    ]);
    expect(code).toBe(0);
  });

  it('sends malformed requests and refused keys again, and gets the same errors', async () => {
    const recording = await recordWhile(service.url, async (url) => {
      const register = (body: unknown, key: string) =>
        sendTo(url, 'POST', '/devices/register', { body, headers: { 'idempotency-key': key } });
      const { code, screenId } = await service.code();
      await register({ pairingCode: code.toLowerCase(), deviceInfo: {} }, 'a-good-key-of-20-chars');
      await register({ pairingCode: code, deviceInfo: {} }, 'short');
      await register(
        { pairingCode: code, deviceInfo: { macAddress: '02005E100001' } },
        'x'.repeat(20),
      );
      const { body } = await register({ pairingCode: code, deviceInfo: {} }, 'y'.repeat(20));
      const path = `/devices/${screenId}/events`;
      const post = (more: object) => sendTo(url, 'POST', path, { key: body.apiKey, ...more });
      await post({ body: '[{"type":' });
      await post({ body: 'x'.repeat(1_100_000) });
      await post({ body: [], headers: { 'content-type': 'text/plain' } });
      await sendTo(url, 'GET', '/devices/x%20y/config', { key: body.apiKey });
      await sendTo(url, 'GET', `/devices/${screenId}/playlists`, { key: body.apiKey });
      await sendTo(url, 'GET', `/devices/${screenId}/config`, {});
      await service.manage('POST', `/v1/devices/${body.deviceId}/revoke`);
      await post({ body: [impression()] });
    });
    const { code, rows } = await replay(recording, service);
    expect(rows).toEqual([
      'registerDevice 400 invalid_request → 400 invalid_request × 3',
      // The request without a key is that of another TV.
      'getDeviceConfig 401 → 401 × 1',
      'registerDevice 201 → 201 × 1',
      'postEvents 400 invalid_json → 400 invalid_json × 1',
      'postEvents 413 body_too_large → 413 body_too_large × 1',
      'postEvents 415 unsupported_media_type → 415 unsupported_media_type × 1',
      'getDeviceConfig 401 device_key_mismatch → 401 device_key_mismatch × 1',
      expect.stringMatching(/^GET \/devices\/.*\/playlists 404 not_found → 404 not_found × 1$/),
      'postEvents 401 → 401 × 1',
    ]);
    expect(code).toBe(0);
  });

  it('9 when an answer differs, with both answers', async () => {
    const { screenId, code } = await place(service);
    const recording = await recordWhile(service.url, async (url) => {
      await tv(url, ['--code', code, '--once']);
    });
    await service.manage('DELETE', `/v1/screens/${screenId}/playlist`);
    const bare = await service.code();
    const run = await runCli(['replay', recording.file, '--code', bare.code], {
      env: { SIGNAGE_URL: service.url },
    });
    expect(run.code).toBe(9);
    expect(run.stdout).toMatch(/getPlaylist\s+200\s+404 playlist_not_found\s+1\s+yes/);
  });

  it('keeps to the recorded times, divided by --speed', async () => {
    const recording = await recordPaired(async (send) => {
      await send('GET', 'config');
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await send('GET', 'config');
    });
    const startedMs = performance.now();
    expect((await replay(recording, service, 1, ['--speed', '2'])).code).toBe(0);
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThan(500);
  });

  it('asks for the code at a terminal; 2 with too few or too many codes', async () => {
    const recording = await recordPaired((send) => send('GET', 'config'));
    const env = { SIGNAGE_URL: service.url };
    const { code } = await service.code();
    const keys = [[/Pairing code of TV 1 of 1/, `${code}\r`]] as const;
    const asked = await runCli(['replay', recording.file], { env, tty: true, keys });
    expect(asked.code).toBe(0);
    for (const argv of [[], ['--code', 'ABCD2345', '--code', 'ABCD2346']]) {
      const run = await runCli(['replay', recording.file, ...argv], { env });
      expect(run.code).toBe(2);
      expect(run.stderr).toContain('needs 1 pairing code');
    }
  });

  it('3 for an unknown code, 7 for an unreachable service, and nothing else is sent', async () => {
    const { file } = await recordPaired((send) => send('GET', 'config'));
    const argv = ['replay', file, '--code', 'ZZZZ2222', '--url'];
    expect(await runCli([...argv, service.url])).toMatchObject({ code: 3, stdout: '' });
    expect((await runCli([...argv, 'http://127.0.0.1:1'])).code).toBe(7);
  });

  it('sends a forged recording to no other service, and no forged header', async () => {
    const recording = await recordPaired((send) => send('GET', 'config'));
    const [line] = readRecording(recording.text, recording.file);
    const elsewhere = await stubService(json(200, {}));
    const { host } = new URL(elsewhere.url);
    const run = async (forged: object) => {
      const file = join(await temporaryFolder(), 'forged');
      await writeFile(file, `${recording.text}${JSON.stringify({ ...line, ...forged })}\n`);
      return (await replay({ file }, service)).code;
    };
    expect(await run({ path: `@${host}/` })).toBe(6);
    expect(await run({ path: `//${host}/` })).toBe(9);
    const headers = { authorization: 'Bearer dak_#1', 'user-agent': 'a\r\nx: b', host };
    expect(await run({ request: { headers } })).toBe(9);
    await elsewhere.close();
    expect(elsewhere.heard).toEqual([]);
  });

  it('130 for Ctrl-C', async () => {
    const recording = await recordPaired(async (send) => {
      await send('GET', 'config');
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await send('GET', 'config');
    });
    const { code } = await service.code();
    const run = await runCli(
      ['replay', recording.file, '--code', code, '--speed', '0.01', '--verbose'],
      {
        env: { SIGNAGE_URL: service.url },
        async during(io) {
          await io.until(/config → 200/);
          io.signal('SIGINT');
        },
      },
    );
    expect(run.code).toBe(130);
  });
});
