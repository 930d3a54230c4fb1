// Takes the pictures of the README, of the demo in a real Chromium: the web player, and the board.
// npm run build && node scripts/screenshot.js
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'signage-screenshot-'));
const tokenFile = join(folder, 'data/admin-token');

// As if installed: the board shows commands to type.
symlinkSync(fromRoot('bin/signage.js'), join(folder, 'signage'));
process.env.PATH = `${folder}:${process.env.PATH}`;
process.env.XDG_CONFIG_HOME = folder;

const running = [];
function start(...argv) {
  const program = spawn(process.execPath, [fromRoot('bin/signage.js'), ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(program);
  return createInterface({ input: program.stdout });
}

/** Returns the groups of the first line that matches. */
async function find(lines, pattern) {
  for await (const line of lines) {
    const [, ...groups] = pattern.exec(line) ?? [];
    if (groups.length > 0) return groups;
  }
  throw new Error(`No line matches ${pattern}.`);
}

async function send(url, method, path, body, headers) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.json();
}

/** Pairs a TV that reports these events and then nothing. */
async function addTv(url, name, events) {
  const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
  const [tenant] = (await send(url, 'GET', '/v1/tenants', undefined, { authorization })).items;
  const manage = (method, path, body) =>
    send(url, method, path, body, { authorization, 'x-tenant-id': tenant.id });
  const { items: screens } = await manage('GET', '/v1/screens');
  const [like] = screens.filter(({ name: other }) => other === 'Bar');
  const { items } = await manage('GET', `/v1/screens/${like.id}/playlist`);
  const screen = await manage('POST', '/v1/screens', { venueId: like.venueId, name });
  const missing = 'https://cdn.example.com/autumn-offer.mp4';
  const bad = { ...items[0], creativeId: crypto.randomUUID(), creativeUrl: missing };
  await manage('PUT', `/v1/screens/${screen.id}/playlist`, { items: [items[1], bad] });
  const { code } = await manage('POST', '/v1/devices/provisioning-codes', { screenId: screen.id });
  const tv = await send(url, 'POST', '/devices/register', { pairingCode: code, deviceInfo: {} });
  const asTv = { authorization: `Bearer ${tv.apiKey}`, 'idempotency-key': 'one' };
  const playlist = await send(url, 'GET', `/devices/${screen.id}/playlist`, undefined, asTv);
  const timestamp = Math.floor(Date.now() / 1000);
  const body = events.map(({ item, ...event }) => ({
    ...event,
    timestamp,
    ...(item !== undefined && { creativeId: playlist.items[item].creativeId }),
    ...(event.type === 'play' && { playlistId: playlist.playlistId }),
  }));
  await send(url, 'POST', `/devices/${tv.deviceId}/events`, body, asTv);
}

async function takePicture(page, name) {
  const devTools = await page.context().newCDPSession(page);
  // Playwright itself writes no WebP, which is a third of a JPEG.
  const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: 60 });
  writeFileSync(fromRoot(`docs/images/${name}.webp`), Buffer.from(data, 'base64'));
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const demo = start('serve', '--demo', '--port', '0', '--data', join(folder, 'data'));
  const [url, code] = await find(demo, /Open (\S+)\/player in a browser and type (\S+) /);
  const player = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await player.goto(`${url}/player#${code}`);
  await player.locator('img.visible').waitFor();
  await takePicture(player, 'web-player');
  await addTv(url, 'Counter', [{ type: 'app_stopped' }]);
  await addTv(url, 'Terrace', [
    { type: 'play', item: 0 },
    { type: 'playback_error', item: 1, reason: 'http_404' },
  ]);
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  process.env.SIGNAGE_URL = url;
  process.env.SIGNAGE_TOKEN_FILE = tokenFile;
  const board = start('board', '-o', 'name');
  await page.goto((await find(board, /^(http:.*)/))[0]);
  await page.locator('.good .preview img').nth(1).waitFor();
  await takePicture(page, 'board');
} finally {
  await browser.close();
  for (const program of running.reverse()) {
    program.kill();
    await new Promise((resolve) => program.on('exit', resolve));
  }
  rmSync(folder, { recursive: true, force: true });
}
