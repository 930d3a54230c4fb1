import { Hono } from 'hono';
import { assetNames, readAsset } from '../../package/assets.ts';
import { answerStaticFile, makeStaticFile, type StaticFile } from '../handlers/static-file.ts';

// Creatives come from any host. All code and styles come from this service.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self' https: http:",
  'img-src blob: data: https: http:',
  'media-src blob: https: http:',
  'frame-src https: http:',
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

// Policy for the pages that the player shows. They must not use devices of the TV, but may play
// videos without a user gesture.
const deniedFeatures =
  'accelerometer bluetooth camera display-capture encrypted-media fullscreen gamepad geolocation ' +
  'gyroscope hid idle-detection local-fonts magnetometer microphone midi payment ' +
  'picture-in-picture publickey-credentials-get serial usb web-share window-management ' +
  'xr-spatial-tracking';
const permissions = [
  ...deniedFeatures.split(' ').map((feature) => `${feature}=()`),
  'screen-wake-lock=(self)',
].join(', ');

const shared = {
  'Content-Security-Policy': policy,
  'Permissions-Policy': permissions,
  'Referrer-Policy': 'no-referrer',
  // Over HTTPS, Chromium then runs pages of the same site in another process, even those that keep
  // their origin.
  'Origin-Agent-Cluster': '?1',
};
const page = 'index.html';
const serviceWorker = 'sw.js';
const hashedNames = /^(?:app|check|engine|[a-z]{2})\.[0-9a-f]+\./;
const fixedNames = /^(?:sw\.js|manifest\.webmanifest|icon-\d+\.png)$/;

/** Returns the `Cache-Control` of a file. The name of a hashed file changes with its content. */
function cacheControl(name: string): string {
  if (name === page) return 'no-store';
  return hashedNames.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache';
}

/** All names of files under `/player/`. Empty in a checkout that was not built. */
const fileNames = () =>
  assetNames('web').filter((name) => hashedNames.test(name) || fixedNames.test(name));

/** All paths of the web player. Each allows GET only. */
export const playerPaths = () =>
  fileNames().length === 0
    ? []
    : ['/player', '/player/', ...fileNames().map((name) => `/player/${name}`)];

export interface PlayerRoutesOptions {
  /** Whether clients get compressed files, if they accept them. */
  compression: boolean;
  /** Path under which clients reach the service, without a trailing slash. */
  mountPath: string;
}

/**
 * Routes of the web player: the page `/player`, and its files under `/player/`
 * (docs/protocol.md §7). Each file is read at its first request, because most instances never
 * serve it.
 */
export function playerRoutes({ compression, mountPath }: PlayerRoutesOptions): Hono {
  const app = new Hono();
  const files = new Map<string, StaticFile>();
  const fileOf = (name: string) => {
    const known = files.get(name);
    if (known) return known;
    const headers: Record<string, string> = { ...shared, 'Cache-Control': cacheControl(name) };
    if (name === serviceWorker) headers['Service-Worker-Allowed'] = `${mountPath}/player`;
    const file = makeStaticFile(name, readAsset('web', name), { headers, compression });
    files.set(name, file);
    return file;
  };
  if (fileNames().length === 0) return app;
  app.get('/player', (context) => answerStaticFile(context, fileOf(page)));
  app.get('/player/', (context) => context.redirect('../player', 301));
  for (const name of fileNames())
    app.get(`/player/${name}`, (context) => answerStaticFile(context, fileOf(name)));
  return app;
}
