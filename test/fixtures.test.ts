import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { eventBatch } from '../src/domain/events/event.ts';
import { publication } from '../src/domain/playlists/playlist.ts';
import { configBody } from '../src/domain/records/config.ts';
import { deviceInfo } from '../src/domain/records/device.ts';
import { screenCreation } from '../src/domain/records/screen.ts';
import { venueCreation } from '../src/domain/records/venue.ts';

const folder = fileURLToPath(new URL('../fixtures', import.meta.url));
const namesIn = (place: string) =>
  readdirSync(`${folder}/${place}`).map((file) => file.replace('.json', ''));
const read = (file: string) =>
  JSON.parse(
    readFileSync(`${folder}/${file}.json`, 'utf8').replaceAll(
      '{media}',
      'http://127.0.0.1:8080/media',
    ),
  );
const complaints = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues ?? [];
const screenId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

/**
 * `mac` of RFC 7042 §2.1.2 and `address` of RFC 5737 and RFC 3849: kept for documentation, so that
 * nobody has them.
 */
const documentation = {
  mac: /^00[:-]00[:-]5e[:-]00[:-]53[:-]/i,
  address: /^(192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|2001:db8:)/,
};

describe('fixtures/devices', () => {
  const devices = namesIn('devices');

  it('has TVs of at least 6 makers', () => {
    expect(
      new Set(devices.map((name) => read(`devices/${name}`).manufacturer)).size,
    ).toBeGreaterThanOrEqual(6);
  });

  it.each(devices)('%s is a device info with addresses that nobody has', (name) => {
    const info = read(`devices/${name}`);
    expect(complaints(deviceInfo, info)).toEqual([]);
    expect(info.macAddress ?? '00:00:5E:00:53:00').toMatch(documentation.mac);
    expect(info.ipAddress ?? '192.0.2.1').toMatch(documentation.address);
  });
});

describe('fixtures/playlists', () => {
  it.each(namesIn('playlists'))(
    '%s can be published, and says which campaign each item is for',
    (name) => {
      const body = read(`playlists/${name}`);
      expect(complaints(publication, body)).toEqual([]);
      expect(body.items.length).toBeGreaterThanOrEqual(3);
      for (const item of body.items) expect(item.campaignId).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it.each(namesIn('playlists'))('%s names only media that are there', (name) => {
    const urls = read(`playlists/${name}`).items.map(
      (item: { creativeUrl: string }) => item.creativeUrl,
    );
    const ours = urls
      .filter((url: string) => url.startsWith('http://127.0.0.1:8080/media/'))
      .map((url: string) => url.split('/').at(-1));
    expect(ours.filter((file: string) => !readdirSync(`${folder}/media`).includes(file))).toEqual(
      [],
    );
  });
});

describe('fixtures/events', () => {
  it.each(namesIn('events'))('%s is a batch', (name) =>
    expect(complaints(eventBatch, read(`events/${name}`))).toEqual([]),
  );

  it('are of the playlists in fixtures/', () => {
    const items = namesIn('playlists').flatMap((name) => read(`playlists/${name}`).items);
    const known = new Set(items.flatMap((item) => [item.creativeId, item.campaignId]));
    const events = namesIn('events').flatMap((name) => read(`events/${name}`));
    const named = events
      .flatMap((event) => [event.creativeId, event.campaignId])
      .filter((id) => id !== undefined);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
  });
});

describe('fixtures/demo.json', () => {
  const { venues } = read('demo');

  it('has venues, each once, with screens, each once in its venue', () => {
    const names = (records: { name: string }[]) => records.map((one) => one.name);
    expect(new Set(names(venues)).size).toBe(venues.length);
    for (const venue of venues)
      expect(new Set(names(venue.screens)).size).toBe(venue.screens.length);
    expect(
      venues.flatMap((venue: { screens: unknown[] }) => venue.screens).length,
    ).toBeGreaterThanOrEqual(3);
  });

  it('has the bodies by which all of it is made', () => {
    for (const { screens, config, ...venue } of venues) {
      expect(complaints(venueCreation, venue)).toEqual([]);
      expect(complaints(configBody, config ?? {})).toEqual([]);
      for (const { playlist, device, ...screen } of screens)
        expect(complaints(screenCreation, { ...screen, venueId: screenId })).toEqual([]);
    }
  });

  it('names playlists and devices that are there', () => {
    for (const { playlist, device } of venues.flatMap(
      (venue: { screens: unknown[] }) => venue.screens,
    )) {
      expect(namesIn('playlists')).toContain(playlist);
      expect(namesIn('devices')).toContain(device);
    }
  });
});

describe('fixtures/media', () => {
  const files = readdirSync(`${folder}/media`);

  it.each(files)('%s loads nothing from anywhere', (file) => {
    const text = readFileSync(`${folder}/media/${file}`, 'utf8').replaceAll(
      'xmlns="http://www.w3.org/2000/svg"',
      '',
    );
    expect(text).not.toMatch(/https?:|url\((?!#)|@import|@font-face|\ssrc=|<link|fetch\(/i);
  });

  it('has the size of a screen, and stays small', () => {
    for (const file of files.filter((one) => one.endsWith('.svg'))) {
      expect(readFileSync(`${folder}/media/${file}`, 'utf8')).toContain('viewBox="0 0 1920 1080"');
    }
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
      statSync(`${folder}/${file}`),
    );
    expect(
      all.filter((file) => file.isFile()).reduce((sum, file) => sum + file.size, 0),
    ).toBeLessThan(300_000);
  });
});
