// The layer beneath a takeover or an entry, which TVs play if all of the layer above fails.
import { beforeEach, describe, expect, it } from 'vitest';
import { hourMs } from '../../../src/domain/clock.ts';
import type { OnDemandPlaylists } from '../../../src/origin/origin.ts';
import { item, manager } from '../../support/service/management.ts';
import { someFile, upload } from '../../support/service/media.ts';
import { type BoundTv, startService, type TestService } from '../../support/service/service.ts';
import { heldDevices } from '../../support/tv/held-devices.ts';

const named = (title: string) => [item({ title })];
const base = named('base');
const notice = named('notice');
const morning = named('morning');
const evening = named('evening');

let service: TestService;
let tv: BoundTv;
let path: string;
let now: number;

async function start(options: object = {}) {
  service = await startService(options);
  tv = await service.tv();
  path = `/v1/screens/${tv.screenId}`;
  now = Math.ceil(service.clock.now() / 1000);
}

beforeEach(() => start());

const put = async (what: string, body: unknown) => {
  const { status, body: answer } = await service.manage('PUT', `${path}/${what}`, body);
  expect(status, JSON.stringify(answer)).toBe(200);
};
const takeOver = () => put('takeover', { items: notice, until: now + 7200 });
const schedule = () =>
  put('schedule', {
    entries: [
      { name: 'Morning', at: now - 10, until: now + 3600, items: morning },
      { name: 'Evening', at: now + 3600, until: now + 1e6, items: evening },
    ],
  });
const playlist = (etag?: string) =>
  tv.send('GET', 'playlist', etag === undefined ? {} : { headers: { 'if-none-match': etag } });
const beneath = async () => (await playlist()).body.below;

describe('below', () => {
  it('is missing where the playlist plays, or nothing lies beneath', async () => {
    await put('playlist', { items: base });
    expect((await playlist()).body).not.toHaveProperty('below');
    await service.manage('DELETE', `${path}/playlist`);
    await takeOver();
    const { entryId, ...others } = (await playlist()).body;
    expect(entryId).toBe('takeover');
    expect(others).not.toHaveProperty('below');
  });

  it('is the base beneath a takeover, and beneath an entry', async () => {
    await put('playlist', { items: base });
    await takeOver();
    expect(await beneath()).toEqual({ layer: 'base', entryId: null, items: base });
    await service.manage('DELETE', `${path}/takeover`);
    await schedule();
    expect(await beneath()).toEqual({ layer: 'base', entryId: null, items: base });
  });

  it('is the entry beneath a takeover, and has the base below it', async () => {
    await put('playlist', { items: base });
    await schedule();
    await takeOver();
    expect(await beneath()).toEqual({
      layer: 'entry',
      entryId: 'Morning',
      items: morning,
      below: { layer: 'base', entryId: null, items: base },
    });
  });

  it('is named on-demand if the program of the operator gave it', async () => {
    await service.close();
    const onDemand = (async () => ({ items: base as object })) as OnDemandPlaylists;
    await start({ onDemand, onDemandTtlSeconds: 0 });
    await takeOver();
    expect(await beneath()).toEqual({ layer: 'on-demand', entryId: null, items: base });
  });

  it('changes the ETag and wakes held requests when it changes, under the same version', async () => {
    await put('playlist', { items: base });
    await schedule();
    await takeOver();
    const first = await playlist();
    const etag = first.headers.get('etag') as string;
    expect(etag).toMatch(/^"/);
    expect((await playlist(etag)).status).toBe(304);
    const { body } = await tv.send('GET', 'changes');
    const changed = tv.send('GET', `changes?after=${body.cursor}&waitSeconds=30`);
    await expect.poll(() => heldDevices(service)).toBe(1);
    await put('playlist', { items: named('other base') });
    expect((await changed).body.cursor).not.toBe(body.cursor);
    const second = await playlist(etag);
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({
      entryId: 'takeover',
      below: { entryId: 'Morning', below: { items: [{ title: 'other base' }] } },
    });
    service.clock.advance(hourMs + 10_000);
    const third = await playlist(second.headers.get('etag') as string);
    expect(third.status).toBe(200);
    expect(third.body.version).toBe(second.body.version);
    expect(third.body.below).toMatchObject({ entryId: 'Evening' });
  });

  it('ends with its playlist', async () => {
    await put('playlist', { items: base, validUntil: now + 60 });
    expect((await playlist()).body.validUntil).toBe(now + 60);
    await takeOver();
    expect(await beneath()).toMatchObject({ layer: 'base' });
    const { cursor } = (await tv.send('GET', 'changes')).body;
    service.clock.advance(61_000);
    expect(await beneath()).toBeUndefined();
    expect((await tv.send('GET', 'changes')).body.cursor).not.toBe(cursor);
  });

  it('has absolute URLs of the files of the service', async () => {
    const { url } = (await upload(manager(service), someFile(1))).body;
    await put('playlist', { items: [item({ creativeUrl: url, creativeType: 'image' })] });
    await takeOver();
    const [first] = (await beneath()).items;
    expect(first.creativeUrl).toMatch(/^http:\/\/.*\/media\//);
  });

  it('has as many of its first items as 64 KiB hold', async () => {
    const note = 'é'.repeat(10_000);
    const many = Array.from({ length: 10 }, (_, number) => item({ number, note }));
    await put('playlist', { items: many });
    await takeOver();
    const { items } = await beneath();
    expect(items.map(({ number }: { number: number }) => number)).toEqual([0, 1, 2]);
  });
});
