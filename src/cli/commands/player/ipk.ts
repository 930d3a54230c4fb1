import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { packTar } from 'modern-tar';
import { readAsset } from '../../../package/assets.ts';
import { packageVersion } from '../../../package/version.ts';

/** The only id that LG signage panels install from USB and SI servers. */
const appId = 'com.lg.app.signage';
/** A panel replaces its app by one of a higher version. */
const version = packageVersion() ?? '0.0.0';

const appInfo = {
  id: appId,
  version,
  vendor: 'signage',
  type: 'web',
  main: 'index.html',
  title: 'signage player',
  icon: 'icon-80.png',
  largeIcon: 'icon-192.png',
  bgColor: '#000000',
  disableBackHistoryAPI: true,
};

const packageInfo = {
  app: appId,
  id: appId,
  package_format_version: 2,
  vendor: 'signage',
  version,
};

/**
 * The page of the app. It opens the player once the service answers: a page that did not load would
 * stay until the panel restarts. A player that was opened over HTTPS before starts without the
 * network, so the page opens it after 30 s all the same. Written for Chromium 38.
 */
const pageOf = (playerUrl: string) => `<!doctype html>
<meta charset="utf-8">
<title>signage player</title>
<body style="margin:0;background:#000;color:#aaa;font:3vh sans-serif">
<p style="padding:5vh">Waiting for <span id="address"></span> …</p>
<script>
var address = ${JSON.stringify(playerUrl).replaceAll('<', '\\u003c')};
var started = Date.now();
document.getElementById('address').textContent = address;
function open() {
  localStorage.setItem('opened', address);
  location.replace(address);
}
function ask() {
  var mayBeKept = /^https:/.test(address) && localStorage.getItem('opened') === address;
  if (mayBeKept && Date.now() - started > 30000) return open();
  fetch(address, { mode: 'no-cors', cache: 'no-store' }).then(open, function () {
    setTimeout(ask, 5000);
  });
}
ask();
</script>
`;

/** One member of an `ar` archive. */
function archived(name: string, bytes: Uint8Array): Buffer {
  const fields = [
    name.padEnd(16),
    '0'.padEnd(12),
    '0'.padEnd(6),
    '0'.padEnd(6),
    '100644'.padEnd(8),
    String(bytes.length).padEnd(10),
  ];
  const padding = bytes.length % 2 === 0 ? '' : '\n';
  return Buffer.concat([Buffer.from(`${fields.join('')}\`\n`), bytes, Buffer.from(padding)]);
}

/** Packs files and their folders into a compressed tar archive. */
async function tarball(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const folders = new Set(
    Object.keys(files).flatMap((path) =>
      [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)),
    ),
  );
  const shared = { mtime: new Date(0), uid: 0, gid: 0 };
  const tar = await packTar([
    ...[...folders].map((name) => ({
      header: { ...shared, name, size: 0, mode: 0o755, type: 'directory' as const },
    })),
    ...Object.entries(files).map(([name, body]) => ({
      header: {
        ...shared,
        name,
        size: Buffer.byteLength(body),
        mode: 0o644,
        type: 'file' as const,
      },
      body,
    })),
  ]);
  return promisify(gzip)(tar);
}

/**
 * Makes the package of an app for webOS that opens the web player. An `.ipk` is a Debian package:
 * an `ar` archive of a version and two tar archives. The same input gives the same bytes.
 */
export async function makeIpk(playerUrl: string): Promise<Uint8Array> {
  const app = `usr/palm/applications/${appId}`;
  const files = {
    [`${app}/appinfo.json`]: JSON.stringify(appInfo, undefined, 2),
    [`${app}/index.html`]: pageOf(playerUrl),
    [`${app}/${appInfo.icon}`]: readAsset('web', appInfo.icon),
    [`${app}/${appInfo.largeIcon}`]: readAsset('web', appInfo.largeIcon),
    [`usr/palm/packages/${appId}/packageinfo.json`]: JSON.stringify(packageInfo, undefined, 2),
  };
  const bytes = Object.values(files).reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  const control = [
    `Package: ${appId}`,
    `Version: ${version}`,
    'Section: misc',
    'Priority: optional',
    'Architecture: all',
    `Installed-Size: ${bytes}`,
    'Maintainer: N/A <nobody@example.com>',
    'Description: Opens the web player of signage.',
    'webOS-Package-Format-Version: 2',
    '',
  ];
  return Buffer.concat([
    Buffer.from('!<arch>\n'),
    archived('debian-binary', Buffer.from('2.0\n')),
    archived('control.tar.gz', await tarball({ control: control.join('\n') })),
    archived('data.tar.gz', await tarball(files)),
  ]);
}
