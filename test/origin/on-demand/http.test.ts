import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { type LogSink, silentLog } from '../../../src/domain/log.ts';
import { onDemandHttp } from '../../../src/origin/on-demand/http.ts';
import { makeOnDemandSource } from '../../../src/origin/on-demand/source.ts';
import {
  hangUp,
  json,
  raw,
  type StubService,
  stubService,
} from '../../support/network/stub-service.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { item } from '../../support/service/content.ts';
import { screenRow } from '../../support/service/playlist-rows.ts';

const playlist = { items: [item()] };
const stubs: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(stubs.splice(0).map((one) => one.close())));

let screen: ReturnType<typeof screenRow>;
beforeEach(() => {
  screen = screenRow();
});

async function stub(...answers: Parameters<typeof stubService>): Promise<StubService> {
  const made = await stubService(...answers);
  stubs.push(made);
  return made;
}

/** Requests the stub by its URL, on the real clock, since a retry waits a little. */
function askerOf(
  url: string,
  {
    token,
    clock = systemClock,
    log,
  }: { token?: string; clock?: typeof systemClock; log?: LogSink } = {},
) {
  const http = onDemandHttp({ url, token, connections: 5, connectTimeoutMs: 2000, clock, log });
  stubs.push(http);
  const source = makeOnDemandSource({
    clock,
    ask: http.ask,
    ttlMs: 0,
    timeoutMs: 2000,
    concurrency: 5,
  });
  return (one = screen) => source.ask(one);
}

describe('the on-demand source behind a URL', () => {
  it('plays a playlist with a number that loses digits, with a warning', async () => {
    const text = JSON.stringify({ items: [item({ adId: 7 })] }).replace('"adId":7', '"adId":1e309');
    const { url } = await stub(raw(200, text.replace('1e309', '9007199254740993')));
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (fields: unknown) => warnings.push(fields) };
    const ask = askerOf(url, { log });
    expect((await ask()).content).toBeDefined();
    expect((await ask()).content).toBeDefined();
    expect(warnings).toEqual([{ member: '/items/0/adId' }]);
  });

  it('gets a GET with the screen in the URL, and the token', async () => {
    const { url, heard } = await stub(json(200, playlist));
    const { content } = await askerOf(`${url}/p/{screenId}?venue={venueId}`, {
      token: 'on-demand.Token_1',
    })();
    expect(JSON.parse(content?.items ?? '')).toEqual(playlist.items);
    expect(heard).toMatchObject([
      {
        method: 'GET',
        url: `/p/${screen.id}?venue=${screen.venueId}`,
        headers: { accept: 'application/json', authorization: 'Bearer on-demand.Token_1' },
        body: '',
      },
    ]);
  });

  it('gets no Authorization header without a token', async () => {
    const { url, heard } = await stub(json(200, playlist));
    await askerOf(url)();
    expect(heard[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([204, 404])(
    'has no playlist when it answers %i, and is not called again',
    async (status) => {
      const { url, heard } = await stub(raw(status, ''));
      expect(await askerOf(url)()).toEqual({ content: null });
      expect(heard.length).toBe(1);
    },
  );

  it.each([
    ['breaks the connection off', hangUp, 'origin_unreachable'],
    ['answers 502', raw(502, 'bad gateway'), 'origin_status'],
    ['answers 503', raw(503, ''), 'origin_status'],
    ['answers 504', raw(504, ''), 'origin_status'],
  ])('is retried once when it %s', async (_, failure, code) => {
    const helped = await stub(failure, json(200, playlist));
    expect((await askerOf(helped.url)()).content).not.toBeNull();
    expect(helped.heard.length).toBe(2);
    const lost = await stub(failure);
    await expect(askerOf(lost.url)()).rejects.toMatchObject({ code });
    expect(lost.heard.length).toBe(2);
  });

  it.each([201, 301, 302, 303, 307, 308, 400, 401, 403, 410, 429, 500])(
    'is not retried when it answers %i, and no redirect is followed',
    async (status) => {
      const elsewhere = await stub(json(200, playlist));
      const body = JSON.stringify(playlist);
      const { url, heard } = await stub(raw(status, body, { location: elsewhere.url }));
      await expect(askerOf(url, { token: 'secretword' })()).rejects.toMatchObject({
        code: 'origin_status',
        status,
      });
      expect([heard.length, elsewhere.heard]).toEqual([1, []]);
    },
  );

  it('fails when the connection is refused', async () => {
    const { url, close } = await stubService();
    await close();
    await expect(askerOf(url)()).rejects.toMatchObject({ code: 'origin_unreachable' });
  });

  it('is aborted after 2 s also during its body, and between two attempts', async () => {
    const clock = new ManualClock();
    const drip = await stub((response) => void response.writeHead(200).write('{"items":['));
    const dripping = askerOf(drip.url, { clock })();
    await expect.poll(() => drip.heard.length).toBe(1);
    clock.advance(2000);
    await expect(dripping).rejects.toMatchObject({ code: 'origin_timeout' });

    let late = () => {};
    const slow = await stub((response) => {
      late = () => raw(503, '')(response, { method: '', url: '', headers: {}, body: '' });
    });
    const waiting = askerOf(slow.url, { clock })();
    await expect.poll(() => slow.heard.length).toBe(1);
    clock.advance(1850);
    late();
    await expect.poll(() => clock.waiting).toBe(2);
    clock.advance(50);
    await expect(waiting).rejects.toMatchObject({ code: 'origin_timeout' });
    clock.advance(2000);
    expect(slow.heard.length).toBe(1);
  });

  it.each([
    ['is no JSON', raw(200, '<html>')],
    ['is empty', raw(200, '')],
    ['is null', json(200, null)],
    ['is not UTF-8', raw(200, Buffer.from([0x7b, 0xff, 0x7d]))],
    ['is nested too deep', raw(200, `{"items":${'['.repeat(100)}${']'.repeat(100)}}`)],
    [
      'is compressed',
      raw(200, Buffer.from('H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==', 'base64'), {
        'content-encoding': 'gzip',
      }),
    ],
    ['is no playlist', json(200, { playlist: [] })],
    [
      'has 1 MiB and a byte',
      raw(200, `{"pad":"${'x'.repeat(1024 * 1024 - 9)}"}`.padEnd(1024 * 1024 + 1)),
    ],
  ])('fails when its answer %s, without a retry', async (_, answer) => {
    const { url, heard } = await stub(answer);
    await expect(askerOf(url)()).rejects.toMatchObject({ code: 'origin_bad_answer' });
    expect(heard.length).toBe(1);
  });

  it('may answer 1 MiB, and no more whatever its Content-Length', async () => {
    const text = JSON.stringify({ items: [item()] }).padEnd(1024 * 1024);
    expect((await askerOf((await stub(raw(200, text))).url)()).content).not.toBeNull();
    let sent = 0;
    const { url } = await stub((response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536))) sent += 65_536;
        response.once('drain', more);
      };
      more();
    });
    await expect(askerOf(url)()).rejects.toMatchObject({ code: 'origin_bad_answer' });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('loses a member named __proto__, and keeps the others', async () => {
    const text = JSON.stringify({ items: [item({ campaignId: 'kept' })] }).replace(
      '"kept"',
      '"kept","__proto__":{"polluted":true}',
    );
    const { content } = await askerOf((await stub(raw(200, text))).url)();
    expect(content?.items).toContain('kept');
    expect(content?.items).not.toContain('proto');
  });

  it('has its token in no error', async () => {
    const { url } = await stub(raw(401, 'your token secretword is wrong'));
    const failure = await askerOf(url, { token: 'secretword' })().catch((error: unknown) => error);
    expect(
      JSON.stringify([failure, (failure as Error).message, (failure as Error).stack]),
    ).not.toContain('secretword');
  });
});
