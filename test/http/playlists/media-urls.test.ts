// Media URLs: the canonical form that TVs get, and URLs stored by earlier versions.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { item } from '../../support/service/content.ts';
import { expectInvalid, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';
import { type Deployment, summary, threeOrigins } from '../../support/stores/three-origins.ts';

/** As sent, and as stored. */
const written: readonly (readonly [sent: string, stored: string])[] = [
  ['https://media.example.com/a b.mp4', 'https://media.example.com/a%20b.mp4'],
  ['HTTPS://Media.Example.com:443\\..\\A.mp4', 'https://media.example.com/A.mp4'],
  ['https://bücher.example/ä.png?ö#ü', 'https://xn--bcher-kva.example/%C3%A4.png?%C3%B6#%C3%BC'],
];
const sent = written.map(([one]) => item({ creativeUrl: one }));
const stored = sent.map((one, at) => ({ ...one, creativeUrl: written[at]?.[1] }));
const withPassword = item({ creativeUrl: 'https://tom:secret@media.example.com/\ta' });

describe('PUT /v1/screens/:id/playlist', () => {
  it('200 with media URLs in canonical form, which TVs get, and no new version for either form', async () => {
    const service = await startService();
    const tv = await service.tv();
    const path = `/v1/screens/${tv.screenId}/playlist`;
    for (const items of [sent, stored, sent]) {
      const { body } = await service.manage('PUT', path, { items });
      expect(body).toMatchObject({ version: 1, items: stored });
    }
    expect((await tv.send('GET', 'playlist')).body.items).toEqual(stored);
  });

  it('400 for a URL with a password, which the answer does not repeat, and stores nothing', async () => {
    const service = await startService();
    const path = `/v1/screens/${(await service.screen()).id}/playlist`;
    const answer = await manager(service).put(path, { items: [item(), withPassword] });
    expectInvalid(answer, '/items/1/creativeUrl');
    expect(answer.text).not.toContain('secret');
    expect((await service.manage('GET', path)).status).toBe(404);
  });
});

describe('a playlist stored with URLs that are not canonical', () => {
  const old = [...sent, withPassword];
  let fixture: Deployment;
  let tv: Awaited<ReturnType<Deployment['tv']>>;
  /** Plants a playlist of an earlier version, which stored URLs as they were sent. */
  beforeEach(async () => {
    fixture = await threeOrigins({ mirrored: true });
    tv = await fixture.tv();
    await fixture.publish(tv.screenId, [item()]);
    const row = await fixture.inner.read.get('playlists', tv.screenId);
    if (!row) throw new Error('nothing was published');
    await fixture.store.write((tx) =>
      tx.put('playlists', { ...row, items: JSON.stringify(old), version: 7 }),
    );
  });
  afterEach(() => fixture.close());

  it('reaches TVs and managers unchanged, and TVs from its copy when the store is lost', async () => {
    const answer = await fixture.get(tv);
    expect(summary(answer)).toBe('200 store 7');
    expect(answer.body.items).toEqual(old);
    const read = await fixture.service.manage('GET', `/v1/screens/${tv.screenId}/playlist`);
    expect(read.items).toEqual(old);
    fixture.clock.advance(60_000);
    await fixture.get(tv);
    fixture.store.fault = 'error';
    const copied = await fixture.get(tv);
    expect(summary(copied)).toBe('200 object-store 7');
    expect(copied.body.items).toEqual(old);
  });

  it('gets exactly one new version when the same content is published again', async () => {
    for (let times = 0; times < 2; times++) {
      expect(await fixture.publish(tv.screenId, sent)).toMatchObject({ version: 8, items: stored });
    }
  });
});

describe('an on-demand answer', () => {
  it('is served with its URLs in canonical form, as one version', async () => {
    let says: unknown[] = sent;
    const fixture = await threeOrigins({ onDemand: () => ({ items: says }) });
    const tv = await fixture.tv();
    for (const items of [sent, stored, sent]) {
      says = items;
      const answer = await fixture.get(tv);
      expect(summary(answer)).toBe('200 on-demand 1');
      expect(answer.body.items).toEqual(stored);
    }
    says = [withPassword];
    expect(summary(await fixture.get(tv))).toBe('200 store 1');
    await fixture.close();
  });
});
