// Media URLs: the canonical form that TVs get.
import { describe, expect, it } from 'vitest';
import { item } from '../../support/service/content.ts';
import { expectInvalid, manager } from '../../support/service/management.ts';
import { startService } from '../../support/service/service.ts';
import { summary, threeOrigins } from '../../support/stores/three-origins.ts';

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
