// Takes the picture of the web player in the README, of the demo in a real Chromium:
// npm run build && node test/config/screenshot.js
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const fromRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'signage-screenshot-'));
const argv = ['serve', '--demo', '--port', '0', '--data', folder];
const service = spawn(process.execPath, [fromRoot('bin/signage.js'), ...argv], {
  stdio: ['ignore', 'pipe', 'inherit'],
});

/** Returns the address of the player with the code that the demo prints. */
async function playerAddress() {
  for await (const line of createInterface({ input: service.stdout })) {
    const [, url, code] = /Open (\S+\/player) in a browser and type (\S+) /.exec(line) ?? [];
    if (url) return `${url}#${code}`;
  }
  throw new Error('The demo has printed no code.');
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(await playerAddress());
  await page.locator('img.visible').waitFor();
  const devTools = await page.context().newCDPSession(page);
  // Playwright itself writes no WebP, which is a third of a JPEG.
  const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: 60 });
  writeFileSync(fromRoot('docs/images/web-player.webp'), Buffer.from(data, 'base64'));
} finally {
  await browser.close();
  service.kill();
  await new Promise((resolve) => service.on('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}
