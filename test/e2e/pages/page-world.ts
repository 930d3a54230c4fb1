// A service and a folder with all that the command lines of the pages name.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { signingKeyText } from '../../../src/domain/statements/signed-note.ts';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { makeVideo } from '../../cli/media/make-video.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, type BoundTv, made, startService } from '../../support/service/service.ts';
import { type Statement, statements } from '../../support/statements/statements.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const html = '<!doctype html><title>Menu</title><h1>Soup</h1>';
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><text y="5">Leave</text></svg>';
const playlist = JSON.stringify({ items: [{ file: 'welcome.png' }] });
const week = JSON.stringify({
  entries: [{ name: 'Breakfast', from: '06:00', to: '11:00', items: [item()] }],
});
const venues = `venues:
  - { name: Lobby, screens: [{ name: Main, playlist: menu }, { name: Bar }] }
  - { name: Cafe, screens: [{ name: Window }] }
  - { name: Aurora Riverside, screens: [{ name: Bar }] }`;
const script = '#!/bin/sh\ncat >/dev/null\n';

/** Files that the pages name, by their paths in the folder. */
const files: Readonly<Record<string, string | Buffer>> = {
  'alarm.html': html,
  'config.yaml': 'syncIntervalMinutes: 10\n',
  'fire-drill.svg': svg,
  'fire.png': png,
  'match.yaml': playlist,
  'menu.html': html,
  'menu.yaml': week,
  'notice.png': png,
  'picture.png': png,
  'playlists.yaml': `version: 1\nplaylists: { menu: ${playlist} }\n`,
  'screens.csv': 'venue,name,timezone,label.role\nLobby,Main,Europe/Berlin,menu\nHall,New,,\n',
  'site.yaml': `version: 1\ntenant: {}\nplaylists: { menu: ${playlist} }\n${venues}\n`,
  'spring.yaml': playlist,
  'signing.key': `${signingKeyText('ads.example.com', Buffer.alloc(32, 7))}\n`,
  'summer/1.png': png,
  'summer/2.svg': svg,
  'venues.yaml': `version: 1\n${venues}\n`,
  'week.yaml': week,
  'welcome.png': png,
  'window.yaml': week,
};
const [sealed] = statements([3]) as [Statement];
const copies = {
  'fixtures/playlists/retail.json': 'fixtures/playlists/retail.json',
  'cert.pem': 'test/fixtures/tls/first.cert.pem',
  'key.pem': 'test/fixtures/tls/first.key.pem',
};
const programs = ['mail.sh', 'chat.js', 'plug.sh'];

/** Writes the files into a new folder. */
export async function filesOfPages(): Promise<string> {
  const folder = await temporaryFolder();
  for (const name of ['summer', 'fixtures/playlists'])
    await mkdir(join(folder, name), { recursive: true });
  for (const [name, from] of Object.entries(copies))
    await copyFile(new URL(`../../../${from}`, import.meta.url), join(folder, name));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  for (const name of programs) await writeFile(join(folder, name), script, { mode: 0o755 });
  await writeFile(join(folder, 'offer.mp4'), await makeVideo('avc'));
  for (const name of ['mine', 'theirs']) {
    await writeFile(join(folder, `${name}.note`), sealed.note);
    await writeFile(join(folder, `${name}.ndjson`), sealed.rows);
  }
  await writeFile(join(folder, 'token.txt'), adminToken, { mode: 0o600 });
  await writeFile(join(folder, 'backup.token'), adminToken, { mode: 0o600 });
  return folder;
}

/** Parts of the world that a command makes itself, or needs besides. */
export interface Scene {
  without?: 'venue' | 'screen' | 'TV' | 'TVs' | 'tokens' | undefined;
  tenant?: boolean;
  /** Options of the service. */
  options?: Omit<ServeOptions, 'clock'>;
}

export type PageWorld = Awaited<ReturnType<typeof makeWorld>>;

/** Starts a service with the venues, screens, TVs and tokens of the pages. */
export async function makeWorld({ without, tenant = false, options }: Scene) {
  // A service with parts that wait needs a clock that runs.
  const service = await startService<Clock>(
    options
      ? {
          ...options,
          clock: systemClock,
        }
      : { clock: new ManualClock() },
  );
  const clock = { ...systemClock, now: () => service.clock.now() };
  const { manage } = service;
  const tvs: BoundTv[] = [];
  const make = async (method: string, path: string, body: object) =>
    made(await manage(method, path, body));
  async function place(venue: string, names: readonly string[]): Promise<string> {
    const { id } = await service.venue({
      name: venue,
      timezone: 'Europe/Berlin',
      address: '1 Main Street, Berlin',
      labels: { city: 'Accra', floor: '1' },
    });
    for (const name of names) {
      const labels = { role: 'menu', floor: '2', old: 'x' };
      const screen = await service.screen({ venueId: id, name, labels });
      for (const duration of name === 'Main' ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2])
        await make('PUT', `/v1/screens/${screen.id}/playlist`, { items: [item({ duration })] });
      if (name === 'Window')
        await make('PUT', `/v1/screens/${screen.id}/schedule`, JSON.parse(week));
      if (venue === 'Lobby' && without === 'TVs') continue;
      if (name === 'Main' && without === 'TV') continue;
      tvs.push(await service.tv(screen.id));
    }
    return id;
  }
  await place('Cafe', ['Window']);
  await place('Aurora Riverside', ['Bar']);
  const until = Math.floor(clock.now() / 1000) + 3600;
  if (without !== 'venue' && without !== 'screen') {
    const lobby = await place('Lobby', ['Main', 'Bar']);
    await make('PUT', `/v1/venues/${lobby}/schedule`, JSON.parse(week));
    await make('PUT', `/v1/venues/${lobby}/config`, { cachePolicy: { maxSizeGB: 5 }, volume: 1 });
    const { items } = made(await manage('GET', `/v1/screens?venueId=${lobby}`));
    const main = items.find(({ name }: { name: string }) => name === 'Main').id;
    await make('PUT', `/v1/screens/${main}/config`, { syncIntervalMinutes: 3, volume: 1 });
    await make('PUT', `/v1/screens/${main}/schedule`, JSON.parse(week));
    await make('PUT', `/v1/screens/${main}/takeover`, { items: [item()], until });
  } else if (without === 'screen') await place('Lobby', []);
  const { tenantId } = made(await manage('GET', '/v1/venues')).items[0];
  await make('PUT', `/v1/tenants/${tenantId}/config`, { syncIntervalMinutes: 7 });
  await make('PUT', '/v1/campaigns/summer', { bookedPlays: 5000 });
  if (options?.statementKeyFile) await make('POST', '/v1/statements', { campaign: 'summer' });
  if (without !== 'tokens')
    for (const name of ['CI', 'Build server'])
      await make('POST', '/v1/tokens', { name, role: 'operator' });
  // A backup with webhooks asks what becomes of them.
  const { id: webhook } = options?.store
    ? { id: '' }
    : await make('POST', '/v1/webhooks', { url: 'https://example.com/hook' });
  if (tenant) await make('POST', '/v1/tenants', { name: 'Acme' });
  return { service, clock, tvs, webhook };
}

/** Lets the TVs fetch their playlists and report plays, until `isOver`. */
export async function playOn({ tvs, clock }: PageWorld, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const tv of tvs) {
      const { body } = await tv.send('GET', 'playlist');
      const { creativeId } = body?.items?.[0] ?? {};
      const timestamp = Math.floor(clock.now() / 1000);
      const events = [{ type: 'play', timestamp, creativeId, duration: 1 }];
      if (creativeId !== undefined) await tv.send('POST', 'events', { body: events });
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
