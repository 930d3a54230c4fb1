import { beforeEach, describe, expect, it } from 'vitest';
import type { OnDemandPlaylists, OnDemandScreen } from '../../../src/origin/origin.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { json, stubService } from '../../support/network/stub-service.ts';
import { item } from '../../support/service/content.ts';
import { expectProblem } from '../../support/service/problem.ts';
import {
  type Answer,
  type BoundTv,
  startService,
  type TestService,
} from '../../support/service/service.ts';

const hour = 60 * 60_000;

/** The next result of the source; each test sets it. */
let nextResult: () => unknown;
let asked: OnDemandScreen[];
const onDemand = (async (screen) => {
  asked.push(screen);
  return nextResult();
}) as OnDemandPlaylists;
const fails = () => {
  throw new Error('planted');
};
const none = () => null;

let service: TestService;
let tv: BoundTv;
beforeEach(async () => {
  asked = [];
  nextResult = none;
  service = await startService({ onDemand, onDemandTtlSeconds: 0 });
  tv = await service.tv();
  return () => service.close();
});

const get = (more = {}) => tv.send('GET', 'playlist', more);
const summary = ({ status, headers }: Answer) =>
  [status, headers.get('x-source'), headers.get('x-playlist-version')]
    .filter((part) => part !== null)
    .join(' ');
const got = async () => summary(await get());
const publish = async (content: object) => {
  const answer = await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, content);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const withdraw = () => service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
const history = async () =>
  (await service.manage('GET', `/v1/screens/${tv.screenId}/playlists`)).body.items.map(
    (one: Answer['body']) => [one.version, one.status],
  );
const audit = async () =>
  (await service.manage('GET', '/v1/audit?limit=200')).body.items.filter((one: Answer['body']) =>
    one.action.startsWith('playlist.'),
  );

describe('GET /devices/:id/playlist with an on-demand source', () => {
  it('200 with its playlist, like any other', async () => {
    const items = [item({ campaignId: 'kept' })];
    const validUntil = Math.floor(service.clock.now() / 1000) + 3600;
    nextResult = () => ({ items, validUntil });
    const answer = await get();
    expect(summary(answer)).toBe('200 on-demand 1');
    expect(answer.body).toMatchObject({
      tenantId: tv.tenantId,
      screenId: tv.screenId,
      status: 'active',
      version: 1,
      validUntil,
      items,
    });
    expect(
      (await get({ headers: { 'if-none-match': answer.headers.get('etag') ?? '' } })).status,
    ).toBe(304);
  });

  it('passes it a copy of the screen', async () => {
    await service.manage('PATCH', `/v1/screens/${tv.screenId}`, { labels: { floor: '2' } });
    nextResult = () => {
      Object.assign(asked.at(-1)?.labels as object, { floor: 'changed' });
      return null;
    };
    await get();
    await get();
    expect(asked[1]).toMatchObject({
      id: tv.screenId,
      tenantId: tv.tenantId,
      venueId: tv.venueId,
      name: expect.stringMatching(/^Screen/),
    });
    expect((await service.manage('GET', `/v1/screens/${tv.screenId}`)).body.labels).toEqual({
      floor: '2',
    });
  });

  it('increments the version only when the content differs', async () => {
    const first = [item()];
    const second = [item()];
    nextResult = () => ({ items: first });
    expect(await got()).toBe('200 on-demand 1');
    expect(await got()).toBe('200 on-demand 1');
    nextResult = () => ({ items: second });
    expect(await got()).toBe('200 on-demand 2');
    const validUntil = Math.floor(service.clock.now() / 1000) + 60;
    nextResult = () => ({ items: second, validUntil });
    expect(await got()).toBe('200 on-demand 3');
    expect(await got()).toBe('200 on-demand 3');
    nextResult = () => ({ items: first });
    expect(await got()).toBe('200 on-demand 4');
    expect(await history()).toEqual([
      [4, 'active'],
      [3, 'superseded'],
      [2, 'superseded'],
      [1, 'superseded'],
    ]);
    expect(
      (await audit()).map(({ action, actor }: Answer['body']) => [action, actor.kind]),
    ).toEqual(Array(4).fill(['playlist.publish', 'system']));
    expect((await audit())[0].details).toEqual({ version: 4, origin: 'on-demand' });
  });

  it('stores its playlist, and serves the same bytes when it has none or fails', async () => {
    nextResult = () => ({ items: [item()] });
    const first = await get();
    for (const state of [none, fails, () => ({ items: [] })]) {
      nextResult = state;
      const answer = await get();
      expect(summary(answer)).toBe('200 store 1');
      expect(answer.text).toBe(first.text);
      expect(answer.headers.get('etag')).toBe(first.headers.get('etag'));
    }
  });

  it('takes precedence over the published playlist, which stays in the history', async () => {
    const { id } = await publish({ items: [item()] });
    const items = [item()];
    nextResult = () => ({ items });
    const answer = await get();
    expect(summary(answer)).toBe('200 on-demand 2');
    expect(answer.body.id).toBe(id);
    expect(await history()).toEqual([
      [2, 'active'],
      [1, 'superseded'],
    ]);
    await publish({ items: [item()] });
    expect(await got()).toBe('200 on-demand 4');
  });

  it('404 when there is no playlist; 500 when there is none and the source failed', async () => {
    expectProblem(await get(), 404, 'playlist_not_found');
    nextResult = fails;
    expectProblem(await get(), 500, 'playlist_fetch_failed');
  });

  it('404 when it fails and the playlist was withdrawn in the store', async () => {
    await publish({ items: [item()] });
    await withdraw();
    nextResult = fails;
    expectProblem(await get(), 404, 'playlist_not_found');
  });

  it('publishes a withdrawn playlist as the next version when it still returns that', async () => {
    const items = [item()];
    nextResult = () => ({ items });
    expect(await got()).toBe('200 on-demand 1');
    await withdraw();
    expect(await got()).toBe('200 on-demand 2');
    expect(await history()).toEqual([
      [2, 'active'],
      [1, 'withdrawn'],
    ]);
  });

  describe('when it has had no playlist for 24 hours', () => {
    const items = [item()];
    beforeEach(async () => {
      nextResult = () => ({ items });
      expect(await got()).toBe('200 on-demand 1');
      nextResult = none;
      expect(await got()).toBe('200 store 1');
    });

    it('404 from then on: the system withdraws its stored playlist', async () => {
      service.clock.advance(24 * hour - 1);
      expect(await got()).toBe('200 store 1');
      service.clock.advance(1);
      expectProblem(await get(), 404, 'playlist_not_found');
      expectProblem(await get(), 404, 'playlist_not_found');
      expect(await history()).toEqual([[1, 'withdrawn']]);
      const [last] = await audit();
      expect(last).toMatchObject({
        action: 'playlist.withdraw',
        actor: { kind: 'system' },
        subject: { kind: 'screen', id: tv.screenId },
      });
      expect(last.details).toEqual({ version: 1, origin: 'on-demand' });
    });

    it('200 for longer when it had the same one in between, without a new version', async () => {
      service.clock.advance(23 * hour);
      nextResult = () => ({ items });
      expect(await got()).toBe('200 on-demand 1');
      nextResult = none;
      service.clock.advance(hour);
      expect(await got()).toBe('200 store 1');
      service.clock.advance(24 * hour - 1);
      expect(await got()).toBe('200 store 1');
      service.clock.advance(1);
      expect(await got()).toBe('404');
    });

    it('404 even when it failed in between', async () => {
      service.clock.advance(12 * hour);
      nextResult = fails;
      expect(await got()).toBe('200 store 1');
      service.clock.advance(12 * hour);
      expect(await got()).toBe('200 store 1');
      nextResult = none;
      expect(await got()).toBe('404');
    });

    it('200 when the same playlist was published since: only a manager withdraws that', async () => {
      expect(await publish({ items })).toMatchObject({ version: 1 });
      service.clock.advance(25 * hour);
      expect(await got()).toBe('200 store 1');
      service.clock.advance(25 * hour);
      expect(await got()).toBe('200 store 1');
    });
  });

  it('treats an expired playlist as none', async () => {
    const validUntil = Math.floor(service.clock.now() / 1000) + 60;
    const items = [item()];
    nextResult = () => ({ items, validUntil });
    expect(await got()).toBe('200 on-demand 1');
    service.clock.advance(60_000);
    expectProblem(await get(), 404, 'playlist_not_found');
    await publish({ items: [item()] });
    expect(await got()).toBe('200 store 2');
  });

  it('continues after a restart', async () => {
    const folder = await temporaryFolder();
    const other = await startService({ onDemand, onDemandTtlSeconds: 0, store: folder });
    const bound = await other.tv();
    const ask = async () => summary(await bound.send('GET', 'playlist'));
    const first = [item()];
    const second = [item()];
    nextResult = () => ({ items: first });
    expect(await ask()).toBe('200 on-demand 1');
    nextResult = none;
    expect(await ask()).toBe('200 store 1');
    await other.restart();
    expect(await ask()).toBe('200 store 1');
    nextResult = () => ({ items: first });
    expect(await ask()).toBe('200 on-demand 1');
    nextResult = () => ({ items: second });
    expect(await ask()).toBe('200 on-demand 2');
    nextResult = none;
    await ask();
    await other.restart();
    other.clock.advance(24 * hour);
    expect(await ask()).toBe('404');
  });
});

describe('a creativeUrl', () => {
  it('is never fetched by the service', async () => {
    const media = await stubService(json(200, {}));
    nextResult = () => ({ items: [item({ creativeUrl: `${media.url}/on-demand.mp4` })] });
    expect(await got()).toBe('200 on-demand 1');
    nextResult = none;
    await publish({ items: [item({ creativeUrl: `${media.url}/published.mp4` })] });
    expect(await got()).toBe('200 store 2');
    await withdraw();
    expect(media.heard).toEqual([]);
  });
});

describe('serve({ onDemand }) with a URL', () => {
  it('requests the URL with the token for each request of a TV', async () => {
    const items = [item()];
    const stub = await stubService(json(200, { items }));
    const other = await startService({
      onDemand: `${stub.url}/{screenId}`,
      onDemandToken: 'token',
      onDemandTtlSeconds: 10,
    });
    const bound = await other.tv();
    expect(summary(await bound.send('GET', 'playlist'))).toBe('200 on-demand 1');
    expect(summary(await bound.send('GET', 'playlist'))).toBe('200 on-demand 1');
    expect(stub.heard).toMatchObject([
      { url: `/${bound.screenId}`, headers: { authorization: 'Bearer token' } },
    ]);
    other.clock.advance(10_000);
    await bound.send('GET', 'playlist');
    expect(stub.heard.length).toBe(2);
    await other.close();
  });
});
