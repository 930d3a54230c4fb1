import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PlaylistOrigin } from '../../../src/origin/origin.ts';
import { openStore } from '../../../src/store/open.ts';
import { item } from '../../support/content.ts';
import { mounted } from '../../support/mounted.ts';
import { expectProblem } from '../../support/problem.ts';
import { type BoundTv, startService, type TestService } from '../../support/service.ts';

const day = 24 * 60 * 60_000;
let service: TestService;
beforeAll(async () => {
  service = await startService();
});

const publish = async (tv: BoundTv, content: Record<string, unknown>) => {
  const answer = await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, content);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const seconds = () => Math.floor(service.clock.now() / 1000);
const deviceOf = async (tv: BoundTv) =>
  (await service.manage('GET', `/v1/devices/${tv.deviceId}`)).body;

describe('GET /devices/:id/playlist', () => {
  it('200 with the active playlist and its headers', async () => {
    const tv = await service.tv();
    const items = [
      item(),
      item({ creativeType: 'image', creativeUrl: 'http://127.0.0.1/a.png', duration: 0.5 }),
      item({ creativeType: 'html', duration: 86_400 }),
    ];
    const validUntil = seconds() + 3600;
    const { id } = await publish(tv, { items, validUntil });
    const answer = await tv.send('GET', 'playlist');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id,
      tenantId: tv.tenantId,
      screenId: tv.screenId,
      status: 'active',
      version: 1,
      validUntil,
      items,
    });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('x-playlist-version')).toBe('1');
    expect(answer.headers.get('x-source')).toBe('store');
    expect(answer.headers.get('etag')).toMatch(/^"[^"\s]+"$/);
    expect(answer.headers.get('cache-control')).toBe('private, no-cache');
    expect(await deviceOf(tv)).toMatchObject({
      lastPlaylistAt: new Date(service.clock.now()).toISOString(),
      lastPlaylistVersion: 1,
      lastPlaylistStatus: 200,
    });
  });

  it('200 with further members of items as published, in order and nesting', async () => {
    const tv = await service.tv();
    const items = [
      item({
        campaignId: randomUUID().toUpperCase(),
        zoo: [1, { b: null }],
        title: 'Grüße ☀ \u2028',
      }),
      item(),
      item(),
    ];
    await publish(tv, { items });
    expect((await tv.send('GET', 'playlist')).body.items).toEqual(items);
  });

  it('200 with the next version, another ETag and the same id after new content', async () => {
    const tv = await service.tv();
    await publish(tv, { items: [item()] });
    const first = await tv.send('GET', 'playlist');
    await publish(tv, { items: [item()] });
    const second = await tv.send('GET', 'playlist');
    expect(second.body.id).toBe(first.body.id);
    expect([first.body.version, second.body.version]).toEqual([1, 2]);
    expect(second.headers.get('x-playlist-version')).toBe('2');
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });

  it('200 with the same bytes and ETag after the same content', async () => {
    const tv = await service.tv();
    const items = [item()];
    await publish(tv, { items });
    const first = await tv.send('GET', 'playlist');
    await publish(tv, { items });
    const second = await tv.send('GET', 'playlist');
    expect(second.text).toBe(first.text);
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
  });

  it('200 for the next TV of the screen', async () => {
    const tv = await service.tv();
    const { id } = await publish(tv, { items: [item()] });
    await service.manage('POST', `/v1/devices/${tv.deviceId}/revoke`);
    const next = await service.tv(tv.screenId);
    expect((await next.send('GET', 'playlist')).body).toMatchObject({ id, version: 1 });
  });

  it('200 for HEAD, with the same headers and no body', async () => {
    const tv = await service.tv();
    await publish(tv, { items: [item()] });
    const get = await tv.send('GET', 'playlist');
    const head = await tv.send('HEAD', 'playlist');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    for (const name of [
      'etag',
      'x-playlist-version',
      'x-source',
      'cache-control',
      'content-type',
    ]) {
      expect(head.headers.get(name), name).toBe(get.headers.get(name));
    }
  });

  describe('If-None-Match', () => {
    const asked = async (form: (etag: string) => string) => {
      const tv = await service.tv();
      await publish(tv, { items: [item()] });
      const first = await tv.send('GET', 'playlist');
      const answer = await tv.send('GET', 'playlist', {
        headers: { 'if-none-match': form(first.headers.get('etag') ?? '') },
      });
      return { tv, first, answer };
    };

    it.each<[string, (etag: string) => string]>([
      ['the ETag', (etag) => etag],
      ['the ETag as a weak one', (etag) => `W/${etag}`],
      ['a list that has it', (etag) => `"other" , ${etag},"another"`],
      ['*', () => '*'],
    ])('304 with the same headers and no body for %s', async (_, form) => {
      const { tv, first, answer } = await asked(form);
      expect(answer.status).toBe(304);
      expect(answer.text).toBe('');
      for (const name of ['etag', 'x-playlist-version', 'x-source', 'cache-control']) {
        expect(answer.headers.get(name), name).toBe(first.headers.get(name));
      }
      expect(await deviceOf(tv)).toMatchObject({ lastPlaylistStatus: 304, lastPlaylistVersion: 1 });
    });

    it.each<[string, (etag: string) => string]>([
      ['another ETag', () => '"other"'],
      ['the ETag without its quotes', (etag) => etag.slice(1, -1)],
      ['a part of the ETag', (etag) => `${etag.slice(0, -2)}"`],
      ['nothing', () => ''],
    ])('200 for %s', async (_, form) => {
      expect((await asked(form)).answer.status).toBe(200);
    });

    it('200 for the ETag of the version before', async () => {
      const { tv, first } = await asked((etag) => etag);
      await publish(tv, { items: [item()] });
      expect(
        (
          await tv.send('GET', 'playlist', {
            headers: { 'if-none-match': first.headers.get('etag') ?? '' },
          })
        ).status,
      ).toBe(200);
    });

    it('404, not 304, when the playlist was withdrawn', async () => {
      const { tv, first } = await asked((etag) => etag);
      await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
      const answer = await tv.send('GET', 'playlist', {
        headers: { 'if-none-match': first.headers.get('etag') ?? '' },
      });
      expectProblem(answer, 404, 'playlist_not_found');
    });
  });

  describe('If-Match', () => {
    const asked = async (ifMatch: (etag: string) => string, more: Record<string, string> = {}) => {
      const tv = await service.tv();
      await publish(tv, { items: [item()] });
      const etag = (await tv.send('GET', 'playlist')).headers.get('etag') ?? '';
      const headers = { 'if-match': ifMatch(etag), ...more };
      return { tv, answer: await tv.send('GET', 'playlist', { headers }) };
    };

    it.each<[string, (etag: string) => string]>([
      ['the ETag', (etag) => etag],
      ['a list that has it', (etag) => `"other" , ${etag},"another"`],
      ['*', () => '*'],
    ])('200 for %s', async (_, form) => {
      expect((await asked(form)).answer.status).toBe(200);
    });

    it.each<[string, (etag: string) => string]>([
      ['another ETag', () => '"other"'],
      ['the ETag as a weak one', (etag) => `W/${etag}`],
    ])('412 precondition_failed without the playlist for %s', async (_, form) => {
      const { tv, answer } = await asked(form);
      expectProblem(answer, 412, 'precondition_failed');
      expect(await deviceOf(tv)).toMatchObject({ lastPlaylistStatus: 200 });
    });

    it('is evaluated before If-None-Match', async () => {
      const { answer } = await asked(() => '"other"', { 'if-none-match': '*' });
      expectProblem(answer, 412, 'precondition_failed');
      expect((await asked((etag) => etag, { 'if-none-match': '*' })).answer.status).toBe(304);
    });

    it('404 when there is no playlist', async () => {
      const tv = await service.tv();
      const answer = await tv.send('GET', 'playlist', { headers: { 'if-match': '*' } });
      expectProblem(answer, 404, 'playlist_not_found');
    });
  });

  describe('validUntil', () => {
    it('is the publisher’s time in seconds, even if given in milliseconds', async () => {
      const tv = await service.tv();
      const until = seconds() + 3600;
      await publish(tv, { items: [item()], validUntil: until * 1000 + 999 });
      expect((await tv.send('GET', 'playlist')).body.validUntil).toBe(until);
    });

    it('404 playlist_not_found from that moment on, 200 just before', async () => {
      const tv = await service.tv();
      await publish(tv, { items: [item()], validUntil: seconds() + 60 });
      service.clock.advance(60_000 - 1);
      expect((await tv.send('GET', 'playlist')).status).toBe(200);
      service.clock.advance(1);
      expectProblem(await tv.send('GET', 'playlist'), 404, 'playlist_not_found');
      expect(await deviceOf(tv)).toMatchObject({ lastPlaylistStatus: 404, lastPlaylistVersion: 1 });
    });

    it('defaults to the publication + 365 days, with a stable ETag for 185 days', async () => {
      const tv = await service.tv();
      const published = seconds();
      await publish(tv, { items: [item()] });
      const first = await tv.send('GET', 'playlist');
      expect(first.body.validUntil).toBe(published + 365 * 86_400);
      service.clock.advance(100 * day);
      expect((await tv.send('GET', 'playlist')).text).toBe(first.text);
      service.clock.advance(85 * day);
      const last = await tv.send('GET', 'playlist');
      expect(last.text).toBe(first.text);
      expect(last.headers.get('etag')).toBe(first.headers.get('etag'));
    });

    it('is extended by 365 days whenever fewer than 180 are left, without a new version', async () => {
      const tv = await service.tv();
      const published = seconds();
      await publish(tv, { items: [item()] });
      const first = await tv.send('GET', 'playlist');
      service.clock.advance(185 * day + 1);
      const second = await tv.send('GET', 'playlist');
      expect(second.body).toEqual({ ...first.body, validUntil: published + 2 * 365 * 86_400 });
      expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
      service.clock.advance(365 * day);
      expect((await tv.send('GET', 'playlist')).body.validUntil).toBe(published + 3 * 365 * 86_400);
      service.clock.advance(10 * 365 * day);
      const late = (await tv.send('GET', 'playlist')).body;
      expect(late.validUntil).toBe(published + 13 * 365 * 86_400);
      expect(late.version).toBe(1);
    });
  });

  it('404 playlist_not_found when nothing was published, and the device counts as seen', async () => {
    const tv = await service.tv();
    service.clock.advance(1000);
    expectProblem(await tv.send('GET', 'playlist'), 404, 'playlist_not_found');
    const now = new Date(service.clock.now()).toISOString();
    expect(await deviceOf(tv)).toMatchObject({
      lastSeenAt: now,
      lastPlaylistAt: now,
      lastPlaylistStatus: 404,
      lastPlaylistVersion: null,
    });
  });

  it('404 playlist_not_found when it was withdrawn, 200 with the next version when published again', async () => {
    const tv = await service.tv();
    const items = [item()];
    const { id } = await publish(tv, { items });
    await service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    expectProblem(await tv.send('GET', 'playlist'), 404, 'playlist_not_found');
    await publish(tv, { items });
    expect((await tv.send('GET', 'playlist')).body).toMatchObject({ id, version: 2, items });
  });

  it('ignores a body and query parameters', async () => {
    const tv = await service.tv();
    expect(
      (await service.send('GET', `/devices/${tv.screenId}/config?x=1&x=2`, { key: tv.apiKey }))
        .status,
    ).toBe(200);
  });
});

describe('GET /devices/:id/playlist, from several origins', () => {
  const answers = (
    name: PlaylistOrigin['name'],
    fetch: PlaylistOrigin['fetch'],
  ): PlaylistOrigin => ({ name, fetch });
  const none = answers('on-demand', async () => ({ kind: 'none' }));
  const failing = answers('on-demand', async () => {
    throw new Error('planted');
  });

  async function asked(...origins: PlaylistOrigin[]) {
    const store = await openStore('memory:');
    const service = await mounted({ store, origins });
    const tv = await service.tv();
    const answer = await service.send('GET', `/devices/${tv.screenId}/playlist`, {
      key: tv.apiKey,
    });
    const device = await service.manage('GET', `/v1/devices/${tv.deviceId}`);
    return { answer, device };
  }

  const having = (name: PlaylistOrigin['name']) =>
    answers(name, async (screen) => ({
      kind: 'playlist',
      playlist: {
        id: screen.id,
        screenId: screen.id,
        tenantId: screen.tenantId,
        playlistId: randomUUID(),
        version: 7,
        state: 'active',
        items: JSON.stringify([item()]),
        validUntil: null,
        publishedAt: 0,
        origin: 'on-demand',
      },
    }));

  it.each(['on-demand', 'store', 'object-store'] as const)(
    '200 with X-Source: %s',
    async (name) => {
      const { answer } = await asked(having(name));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-source')).toBe(name);
      expect(answer.headers.get('x-playlist-version')).toBe('7');
    },
  );

  it('200 from the next one when one has no playlist, or fails', async () => {
    const { answer } = await asked(none, failing, having('object-store'));
    expect(answer.headers.get('x-source')).toBe('object-store');
  });

  it('404 when none has a playlist', async () => {
    const { answer } = await asked(none, none);
    expectProblem(answer, 404, 'playlist_not_found');
  });

  it('404 when one has a withdrawal, and the next is not asked', async () => {
    const decided = answers('store', async () => ({ kind: 'decided-none' }));
    const { answer } = await asked(failing, decided, having('object-store'));
    expectProblem(answer, 404, 'playlist_not_found');
  });

  it('500 playlist_fetch_failed when none delivers and one failed; the device keeps its last version', async () => {
    const { answer, device } = await asked(failing, none);
    expectProblem(answer, 500, 'playlist_fetch_failed');
    expect(answer.text).not.toContain('planted');
    expect(device).toMatchObject({ lastPlaylistStatus: 500, lastPlaylistVersion: null });
  });
});
