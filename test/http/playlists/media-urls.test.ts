// Media URLs: validation, canonical form, and URLs stored by earlier versions.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { item } from '../../support/content.ts';
import { expectInvalid, type Manager, manager } from '../../support/management.ts';
import { startService, type TestService } from '../../support/service.ts';
import { summary, type ThreeOrigins, threeOrigins } from '../../support/three-origins.ts';

/** As sent, and as stored. */
const written: readonly (readonly [sent: string, stored: string])[] = [
  ['https://media.example.com/a b.mp4', 'https://media.example.com/a%20b.mp4'],
  ['https:media.example.com', 'https://media.example.com/'],
  ['https://media.example.com\\a.mp4', 'https://media.example.com/a.mp4'],
  ['HTTPS://Media.Example.com:443/../A.mp4', 'https://media.example.com/A.mp4'],
  ['https://bücher.example/ä.png?ö#ü', 'https://xn--bcher-kva.example/%C3%A4.png?%C3%B6#%C3%BC'],
  ['http://0x7f.1/a"b', 'http://127.0.0.1/a%22b'],
];
const sent = written.map(([one]) => item({ creativeUrl: one }));
const stored = sent.map((one, at) => ({ ...one, creativeUrl: written[at]?.[1] }));

const refused = [
  ' https://media.example.com/',
  'https://media.example.com/ ',
  '\u00a0https://media.example.com/',
  'https://media.example.com/a\tb',
  'https://media.example.com/a\nb',
  'https://media.example.com/\r',
  '\u0000https://media.example.com/',
  'https://media.example.com/\u007f',
  'https://media.example.com/\u0085',
  'https://tom@media.example.com/',
  'https://tom:secret@media.example.com/',
  'https://:secret@media.example.com/',
  'blob:https://media.example.com/1',
  'data:image/png;base64,AA==',
  'file://media.example.com/a',
  'https://',
  'https://a b/',
];

describe('PUT /v1/screens/:id/playlist', () => {
  let service: TestService;
  let admin: Manager;
  let path: string;
  beforeAll(async () => {
    service = await startService();
    admin = manager(service);
  });
  beforeEach(async () => {
    path = `/v1/screens/${(await service.screen()).id}/playlist`;
  });

  it('200 with media URLs in the canonical WHATWG form, which TVs get', async () => {
    const screen = await service.screen();
    const tv = await service.tv(screen.id);
    expect(
      (await admin.put(`/v1/screens/${screen.id}/playlist`, { items: sent })).body.items,
    ).toEqual(stored);
    expect((await tv.send('GET', 'playlist')).body.items).toEqual(stored);
  });

  it('200 unchanged for the same URLs in either form', async () => {
    for (const items of [sent, stored, sent])
      expect((await admin.put(path, { items })).body.version).toBe(1);
  });

  it.each(refused)('400 for %j', async (creativeUrl) => {
    expectInvalid(
      await admin.put(path, { items: [item(), item({ creativeUrl })] }),
      '/items/1/creativeUrl',
    );
    expect((await admin.get(path)).status).toBe(404);
  });

  it('400 without the password in its message', async () => {
    const { text } = await admin.put(path, {
      items: [item({ creativeUrl: 'https://tom:secret@media.example.com/' })],
    });
    expect(text).toContain('must not contain a user name or password');
    expect(text).not.toContain('secret');
  });

  it('400 for a URL of more than 2,048 characters in canonical form', async () => {
    const url = (letters: number) => `https://media.example.com/${'ä'.repeat(letters)}`;
    expect(
      (await admin.put(path, { items: [item({ creativeUrl: url(337) })] })).body.items[0]
        .creativeUrl,
    ).toHaveLength(26 + 6 * 337);
    expectInvalid(
      await admin.put(path, { items: [item({ creativeUrl: url(338) })] }),
      '/items/0/creativeUrl',
    );
  });
});

/**
 * A screen with a playlist of an earlier version of the service, which stored URLs as they were
 * sent.
 */
async function withOldRow(options: ThreeOrigins = {}) {
  const fixture = await threeOrigins({ mirrored: true, ...options });
  const tv = await fixture.tv();
  const old = [...sent, item({ creativeUrl: 'https://tom:secret@media.example.com/\ta' })];
  await fixture.publish(tv.screenId, [item()]);
  const row = await fixture.inner.read.get('playlists', tv.screenId);
  if (!row) throw new Error('nothing was published');
  await fixture.store.write((tx) =>
    tx.put('playlists', { ...row, items: JSON.stringify(old), version: 7 }),
  );
  return { fixture, tv, old };
}

describe('a playlist stored with URLs that are not canonical', () => {
  let planted: Awaited<ReturnType<typeof withOldRow>>;
  const rigs: { close(): Promise<void> }[] = [];
  beforeEach(async () => {
    planted = await withOldRow();
    rigs.push(planted.fixture);
  });
  afterAll(async () => {
    for (const fixture of rigs) await fixture.close();
  });

  it('reaches TVs and managers unchanged', async () => {
    const { fixture, tv, old } = planted;
    const answer = await fixture.get(tv);
    expect(summary(answer)).toBe('200 store 7');
    expect(answer.body.items).toEqual(old);
    expect(
      (await fixture.service.manage('GET', `/v1/screens/${tv.screenId}/playlist`)).items,
    ).toEqual(old);
  });

  it('reaches TVs unchanged from its copy when the store is lost', async () => {
    const { fixture, tv, old } = planted;
    fixture.clock.advance(60_000);
    expect((await fixture.get(tv)).body.items).toEqual(old);
    fixture.store.fault = 'error';
    const answer = await fixture.get(tv);
    expect(summary(answer)).toBe('200 object-store 7');
    expect(answer.body.items).toEqual(old);
  });

  it('gets exactly one new version when the same content is published again', async () => {
    const { fixture, tv } = planted;
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
    says = [item({ creativeUrl: 'https://tom:secret@media.example.com/' })];
    expect(summary(await fixture.get(tv))).toBe('200 store 1');
    await fixture.close();
  });
});
