import { beforeEach, describe, expect, it } from 'vitest';
import type { OnDemandPlaylists, OnDemandScreen } from '../../src/origin/origin.ts';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { serve } from '../../src/serve.ts';
import { item } from '../support/content.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { expectProblem } from '../support/problem.ts';
import { type Answer, type BoundTv, startService, type TestService } from '../support/service.ts';
import { json, stubService } from '../support/stub-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const hour = 60 * 60_000;

/** What the source says next; each test sets it. */
let says: () => unknown;
let asked: OnDemandScreen[];
const onDemand = (async (screen) => {
  asked.push(screen);
  return says();
}) as OnDemandPlaylists;
const fails = () => {
  throw new Error('planted');
};
const none = () => null;

let service: TestService;
let tv: BoundTv;
beforeEach(async () => {
  asked = [];
  says = none;
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
  it('200 with what it answers, as a playlist like any other', async () => {
    const items = [item({ campaignId: 'kept' })];
    const validUntil = Math.floor(service.clock.now() / 1000) + 3600;
    says = () => ({ items, validUntil });
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

  it('tells it of the screen, and gives nothing away that could be changed', async () => {
    await service.manage('PATCH', `/v1/screens/${tv.screenId}`, { labels: { floor: '2' } });
    says = () => {
      Object.assign(asked.at(-1)?.labels as object, { floor: 'changed' });
      return null;
    };
    await get();
    await get();
    const { id, tenantId, venueId, name } = asked[1] as OnDemandScreen;
    expect({ id, tenantId, venueId }).toEqual({
      id: tv.screenId,
      tenantId: tv.tenantId,
      venueId: tv.venueId,
    });
    expect(name).toMatch(/^Screen/);
    expect((await service.manage('GET', `/v1/screens/${tv.screenId}`)).body.labels).toEqual({
      floor: '2',
    });
  });

  it('counts versions up when the content differs, and leaves them when it does not', async () => {
    const [first, second] = [[item()], [item()]];
    says = () => ({ items: first });
    expect(await got()).toBe('200 on-demand 1');
    expect(await got()).toBe('200 on-demand 1');
    says = () => ({ items: second });
    expect(await got()).toBe('200 on-demand 2');
    const validUntil = Math.floor(service.clock.now() / 1000) + 60;
    says = () => ({ items: second, validUntil });
    expect(await got()).toBe('200 on-demand 3');
    expect(await got()).toBe('200 on-demand 3');
    says = () => ({ items: first });
    expect(await got()).toBe('200 on-demand 4');
    expect(await history()).toEqual([
      [4, 'active'],
      [3, 'superseded'],
      [2, 'superseded'],
      [1, 'superseded'],
    ]);
    expect(
      (await audit()).map(({ action, actor, details }: Answer['body']) => [
        action,
        actor.kind,
        details,
      ]),
    ).toEqual(
      [4, 3, 2, 1].map((version) => [
        'playlist.publish',
        'system',
        { version, origin: 'on-demand' },
      ]),
    );
  });

  it('takes the same content in another order of members for the same', async () => {
    await publish({
      items: [item({ meta: { a: 1, b: 2 }, creativeId: '11111111-1111-4111-8111-111111111111' })],
    });
    says = () => ({
      items: [item({ meta: { b: 2, a: 1 }, creativeId: '11111111-1111-4111-8111-111111111111' })],
    });
    expect(await got()).toBe('200 on-demand 1');
  });

  it('keeps the answer in the store: the same bytes when the source has none, or fails', async () => {
    says = () => ({ items: [item()] });
    const first = await get();
    for (const state of [none, fails, () => ({ items: [] })]) {
      says = state;
      const answer = await get();
      expect(summary(answer)).toBe('200 store 1');
      expect(answer.text).toBe(first.text);
      expect(answer.headers.get('etag')).toBe(first.headers.get('etag'));
    }
  });

  it('comes before what was published, which stays in the history', async () => {
    const { id } = await publish({ items: [item()] });
    const items = [item()];
    says = () => ({ items });
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

  it('leaves a published playlist alone while it has none', async () => {
    await publish({ items: [item()] });
    expect(await got()).toBe('200 store 1');
    service.clock.advance(48 * hour);
    expect(await got()).toBe('200 store 1');
    service.clock.advance(48 * hour);
    expect(await got()).toBe('200 store 1');
  });

  it('404 when nobody has one; 500 when nobody has one and the source failed', async () => {
    expectProblem(await get(), 404, 'playlist_not_found');
    says = fails;
    expectProblem(await get(), 500, 'playlist_fetch_failed');
  });

  it('404 when it fails and the store knows that the playlist was withdrawn', async () => {
    await publish({ items: [item()] });
    await withdraw();
    says = fails;
    expectProblem(await get(), 404, 'playlist_not_found');
  });

  it('makes the next version of an answer that was withdrawn, for the source still wants it played', async () => {
    const items = [item()];
    says = () => ({ items });
    expect(await got()).toBe('200 on-demand 1');
    await withdraw();
    expect(await got()).toBe('200 on-demand 2');
    expect(await history()).toEqual([
      [2, 'active'],
      [1, 'withdrawn'],
    ]);
  });

  describe('when it has had none for 24 hours', () => {
    beforeEach(async () => {
      says = () => ({ items: [item({ creativeId: '22222222-2222-4222-8222-222222222222' })] });
      expect(await got()).toBe('200 on-demand 1');
      says = none;
      expect(await got()).toBe('200 store 1');
    });

    it('404: its kept answer is withdrawn, by the system, and not a moment before', async () => {
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

    it('200 for longer when it had one in between, which makes no version', async () => {
      service.clock.advance(23 * hour);
      says = () => ({ items: [item({ creativeId: '22222222-2222-4222-8222-222222222222' })] });
      expect(await got()).toBe('200 on-demand 1');
      says = none;
      service.clock.advance(hour);
      expect(await got()).toBe('200 store 1');
      service.clock.advance(24 * hour - 1);
      expect(await got()).toBe('200 store 1');
      service.clock.advance(1);
      expect(await got()).toBe('404');
    });

    it('404 also when it failed in between: a failure is no playlist', async () => {
      service.clock.advance(12 * hour);
      says = fails;
      expect(await got()).toBe('200 store 1');
      service.clock.advance(12 * hour);
      expect(await got()).toBe('200 store 1');
      says = none;
      expect(await got()).toBe('404');
    });

    it('200 when somebody has published the same since: then only a manager withdraws it', async () => {
      expect(
        await publish({ items: [item({ creativeId: '22222222-2222-4222-8222-222222222222' })] }),
      ).toMatchObject({ version: 1 });
      service.clock.advance(25 * hour);
      expect(await got()).toBe('200 store 1');
      service.clock.advance(25 * hour);
      expect(await got()).toBe('200 store 1');
    });

    it('200 on demand as the next version when it has one again', async () => {
      service.clock.advance(24 * hour);
      expect(await got()).toBe('404');
      says = () => ({ items: [item()] });
      expect(await got()).toBe('200 on-demand 2');
    });
  });

  it('counts an answer that has ended as none', async () => {
    const validUntil = Math.floor(service.clock.now() / 1000) + 60;
    const items = [item()];
    says = () => ({ items, validUntil });
    expect(await got()).toBe('200 on-demand 1');
    service.clock.advance(60_000);
    expectProblem(await get(), 404, 'playlist_not_found');
    await publish({ items: [item()] });
    expect(await got()).toBe('200 store 2');
  });

  it('goes on where it was after a restart', async () => {
    const folder = await temporaryFolder();
    const other = await startService({ onDemand, onDemandTtlSeconds: 0, store: folder });
    const bound = await other.tv();
    const ask = async () => summary(await bound.send('GET', 'playlist'));
    const [first, second] = [[item()], [item()]];
    says = () => ({ items: first });
    expect(await ask()).toBe('200 on-demand 1');
    says = none;
    expect(await ask()).toBe('200 store 1');
    await other.restart();
    expect(await ask()).toBe('200 store 1');
    says = () => ({ items: first });
    expect(await ask()).toBe('200 on-demand 1');
    says = () => ({ items: second });
    expect(await ask()).toBe('200 on-demand 2');
    says = none;
    await ask();
    await other.restart();
    other.clock.advance(24 * hour);
    expect(await ask()).toBe('404');
  });
});

describe('a creativeUrl', () => {
  it('is never fetched by the service, whoever named it', async () => {
    const media = await stubService(json(200, {}));
    says = () => ({ items: [item({ creativeUrl: `${media.url}/on-demand.mp4` })] });
    expect(await got()).toBe('200 on-demand 1');
    says = none;
    await publish({ items: [item({ creativeUrl: `${media.url}/published.mp4` })] });
    expect(await got()).toBe('200 store 2');
    await withdraw();
    expect(media.heard).toEqual([]);
    await media.close();
  });
});

describe('serve({ onDemandUrl })', () => {
  it('asks the URL, with the token, for each TV that asks', async () => {
    const items = [item()];
    const stub = await stubService(json(200, { items }));
    const other = await startService({
      onDemandUrl: `${stub.url}/{screenId}`,
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
    await stub.close();
  });

  it.each<[string, ServeOptions]>([
    ['a URL that is none', { onDemandUrl: 'ads.example' }],
    ['an unknown placeholder', { onDemandUrl: 'https://ads.example/{screen}' }],
    ['a function and a URL', { onDemandUrl: 'https://ads.example', onDemand }],
    ['a token without a URL', { onDemandToken: 'token' }],
    [
      'a token with a line break',
      { onDemandUrl: 'https://ads.example', onDemandToken: 'secretword\nHost: evil' },
    ],
    ['an empty token', { onDemandUrl: 'https://ads.example', onDemandToken: '' }],
    ['a TTL out of range', { onDemand, onDemandTtlSeconds: 3601 }],
    ['a time-out out of range', { onDemand, onDemandTimeoutMs: 0 }],
    ['a concurrency out of range', { onDemand, onDemandConcurrency: 0 }],
  ])('refuses %s', async (_, options) => {
    const refusal = await serve({
      port: 0,
      store: 'memory:',
      clock: new ManualClock(),
      ...options,
    }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid_option' });
    expect((refusal as Error).message).not.toContain('secretword');
  });
});
