import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { playlistContent } from '../../../src/domain/playlists/playlist-content.ts';
import type { OnDemandAnswer, OnDemandSource, PlaylistOrigin } from '../../../src/origin/origin.ts';
import { makeOnDemandVersions } from '../../../src/service/playlists/on-demand-versions.ts';
import { makeServedVersions } from '../../../src/service/playlists/served-versions.ts';
import { item } from '../../support/service/content.ts';
import { type Deployment, summary, threeOrigins } from '../../support/stores/three-origins.ts';

const [first, second] = [[item({ title: 'first' })], [item({ title: 'second' })]];
const none = () => null;

let answerSource: () => unknown;
let deployment: Deployment;
let tv: Awaited<ReturnType<Deployment['tv']>>;
beforeEach(async () => {
  answerSource = () => ({ items: first });
  deployment = await threeOrigins({ onDemand: () => answerSource(), mirrored: true });
  tv = await deployment.tv();
  deployment.objects.fault = 'none';
});
afterEach(() => deployment.close());

const get = () => deployment.get(tv);
const got = async () => summary(await get());
const screenOfTv = async () => (await deployment.inner.read.get('screens', tv.screenId))!;
/** Another instance on the store, with a source of its own. */
const instanceOn = (ask: OnDemandSource['ask']) =>
  makeOnDemandVersions(deployment.service.services.deps, {
    source: { ask, forget() {} },
    read: (id) => deployment.store.read.get('playlists', id),
    served: makeServedVersions(deployment.store, deployment.clock),
  });
const stored = () => deployment.inner.read.get('playlists', tv.screenId);

describe('an on-demand answer that the store cannot record', () => {
  it.each(['error', 'hang'] as const)(
    'counts as failed when the write ends in: %s',
    async (fault) => {
      expect(await got()).toBe('200 on-demand 1');
      deployment.store.faultOfWrites = fault;
      answerSource = () => ({ items: second });
      const answer = await get();
      expect(summary(answer)).toBe('200 store 1');
      expect(answer.body.items).toEqual(first);
      expect((await stored())?.version).toBe(1);
      deployment.store.faultOfWrites = 'no';
      expect(await got()).toBe('200 on-demand 2');
    },
  );

  it.each(['error', 'hang', 'garbage'] as const)(
    'is served if it is the last known version, byte for byte, while reads end in: %s',
    async (fault) => {
      const before = await get();
      expect(summary(before)).toBe('200 on-demand 1');
      deployment.store.fault = fault;
      const during = await get();
      expect(summary(during)).toBe('200 on-demand 1');
      expect(during.text).toBe(before.text);
      expect(during.headers.get('etag')).toBe(before.headers.get('etag'));
    },
  );

  it('is not served if it differs from the last known version: 500 without another origin', async () => {
    expect(await got()).toBe('200 on-demand 1');
    deployment.store.fault = 'error';
    answerSource = () => ({ items: second });
    expect(await got()).toBe('500');
    answerSource = () => ({
      items: first,
      validUntil: Math.floor(deployment.clock.now() / 1000) + 3600,
    });
    expect(await got()).toBe('500');
    answerSource = () => ({ items: first });
    expect(await got()).toBe('200 on-demand 1');
  });

  it('is not served if it was a version before the last known one', async () => {
    expect(await got()).toBe('200 on-demand 1');
    answerSource = () => ({ items: second });
    expect(await got()).toBe('200 on-demand 2');
    deployment.store.fault = 'error';
    answerSource = () => ({ items: first });
    expect(await got()).toBe('500');
  });

  it('is not served if the store had another or no active version since', async () => {
    expect(await got()).toBe('200 on-demand 1');
    answerSource = none;
    await deployment.publish(tv.screenId, second);
    expect(await got()).toBe('200 store 2');
    deployment.store.fault = 'error';
    answerSource = () => ({ items: first });
    expect(await got()).toBe('500');
  });

  it('is not served after a start, before the store was read', async () => {
    deployment.store.fault = 'error';
    expect(await got()).toBe('500');
  });
});

describe('a new on-demand answer', () => {
  it('becomes one version, written once for concurrent requests', async () => {
    await deployment.close();
    let calls = 0;
    deployment = await threeOrigins({
      onDemand: () => ({ items: ++calls > 0 ? first : second }),
      ttlMs: 10_000,
    });
    tv = await deployment.tv();
    const answers = await deployment.driven(
      Promise.all(
        Array.from({ length: 500 }, () =>
          deployment.service.send('GET', `/devices/${tv.screenId}/playlist`, { key: tv.apiKey }),
        ),
      ),
    );
    expect(new Set(answers.map(summary))).toEqual(new Set(['200 on-demand 1']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(calls).toBe(1);
    const { items } = await deployment.service.manage(
      'GET',
      '/v1/audit?limit=200&action=playlist.publish',
    );
    expect(items.length).toBe(1);
  });

  it('is dropped if the screen was deleted meanwhile', async () => {
    const screen = await screenOfTv();
    await deployment.inner.write((tx) => tx.delete('screens', screen.id));
    expect(await deployment.driven(Promise.resolve(deployment.origins.ask(screen)))).toEqual({
      kind: 'none',
    });
    expect(await stored()).toBeUndefined();
  });
});

describe('two instances on one store with an on-demand source', () => {
  it('do not alternate: a cached answer of one does not replace a newer one of the other', async () => {
    const screen = await screenOfTv();
    const answer = (items: unknown[]): OnDemandAnswer => ({
      content: playlistContent(items, null),
    });
    const instance = (stored: { answer: OnDemandAnswer }) => instanceOn(async () => stored.answer);
    const [heldByA, heldByB] = [{ answer: answer(first) }, { answer: answer(first) }];
    const [a, b] = [instance(heldByA), instance(heldByB)];
    const version = async (one: PlaylistOrigin) => {
      const got = await one.fetch(screen);
      return got.kind === 'playlist' ? got.playlist.version : got.kind;
    };
    expect([await version(a), await version(b)]).toEqual([1, 1]);
    heldByB.answer = answer(second);
    expect([await version(b), await version(a), await version(b)]).toEqual([2, 2, 2]);
    heldByA.answer = answer(second);
    expect(await version(a)).toBe(2);
    heldByA.answer = answer(first);
    expect(await version(a)).toBe(3);
    await deployment.publish(tv.screenId, [item()]);
    expect(await version(a)).toBe(5);
  });
});

describe('a refresh, while another instance records other answers during its calls', () => {
  /** Refreshes on one instance. During the first calls, another one records a version. */
  async function refreshDuring(disturbedCalls: number) {
    const screen = await screenOfTv();
    const content = (title: string) => playlistContent([item({ title })], null);
    let calls = 0;
    const other = instanceOn(async () => ({ content: content(`other ${calls}`) }));
    const { refresh } = instanceOn(async (_, options) => {
      const versionBefore = options?.readVersion?.();
      await versionBefore;
      calls++;
      if (calls <= disturbedCalls) await other.fetch(screen);
      return { content: content('own'), versionBefore };
    });
    const answer = await refresh(screen);
    const row = (await stored())!;
    expect(answer).toMatchObject({ playlist: row });
    const { items } = (await deployment.inner.read.get('contents', row.contentId))!;
    const title = JSON.parse(items)[0].title;
    return { calls, title };
  }

  it('calls the source again, and records that answer', async () => {
    expect(await refreshDuring(1)).toEqual({ calls: 2, title: 'own' });
  });

  it('returns the version of the other instance after three calls', async () => {
    expect(await refreshDuring(9)).toEqual({ calls: 3, title: 'other 3' });
  });
});

describe('10,000 screens that repeatedly request at once', () => {
  it('cause one call per screen and TTL, also after a publish', async () => {
    await deployment.close();
    let calls = 0;
    deployment = await threeOrigins({
      onDemand: () => {
        calls++;
        return null;
      },
      ttlMs: 10_000,
    });
    tv = await deployment.tv();
    const screen = await screenOfTv();
    const screens = Array.from({ length: 1000 }, (_, n) => ({
      ...screen,
      id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    }));
    const sweep = () => Promise.all(screens.map((one) => deployment.origins.ask(one)));
    await sweep();
    expect(calls).toBe(1000);
    await deployment.publish(tv.screenId, first);
    for (let n = 0; n < 3; n++) await sweep();
    expect(calls).toBe(1000);
    deployment.clock.advance(10_000);
    await Promise.all([sweep(), sweep()]);
    expect(calls).toBe(2000);
  });
});

describe('the object store as a fallback of on-demand source and store', () => {
  beforeEach(async () => {
    deployment.objects.fault = 'no';
    expect(await got()).toBe('200 on-demand 1');
    await expectMirrored(1);
    answerSource = () => {
      throw new Error('planted');
    };
  });

  /** Waits until the screen's copy has this version. */
  async function expectMirrored(version: number): Promise<void> {
    await expect
      .poll(() =>
        [...deployment.objects.objects.values()].map((bytes) => JSON.parse(String(bytes)).version),
      )
      .toEqual([version]);
  }

  it('200 with the last good on-demand answer when source and store are down', async () => {
    deployment.store.fault = 'error';
    const answer = await get();
    expect(summary(answer)).toBe('200 object-store 1');
    expect(answer.body.items).toEqual(first);
  });

  it('404 when it was withdrawn before the store failed', async () => {
    await deployment.withdraw(tv.screenId);
    await expect
      .poll(() => [...deployment.objects.objects.values()].map(String))
      .toEqual([expect.stringContaining('"withdrawn"')]);
    deployment.store.fault = 'error';
    expect(await got()).toBe('404');
  });

  it('500 when its copy is older than the served version, for playlists and withdrawals', async () => {
    deployment.objects.fault = 'error';
    await deployment.publish(tv.screenId, second);
    expect(await got()).toBe('200 store 2');
    deployment.objects.fault = 'no';
    deployment.store.fault = 'error';
    await expectMirrored(1);
    expect(await got()).toBe('500');
    for (const [key, bytes] of deployment.objects.objects) {
      const { format, tenantId, screenId, playlistId, version } = JSON.parse(String(bytes));
      deployment.objects.objects.set(
        key,
        Buffer.from(
          JSON.stringify({ format, tenantId, screenId, playlistId, version, state: 'withdrawn' }),
        ),
      );
    }
    expect(await got()).toBe('500');
  });
});
