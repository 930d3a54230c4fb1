import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startConnectProxy } from '../../support/network/connect-proxy.ts';
import { startService } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';
import { archiveMembers } from './archive-members.ts';

/** A service under a name that is not of this machine. Only the proxy of the test knows it. */
let url: string;
let withoutPlayer: string;
let env: Record<string, string>;
beforeAll(async () => {
  const named = (service: { url: string }) => service.url.replace('127.0.0.1', 'signage.test');
  url = named(await startService({ clock: systemClock }));
  withoutPlayer = named(await startService({ clock: systemClock, player: false }));
  env = { HTTP_PROXY: (await startConnectProxy()).url };
});

async function filesOf(path: string): Promise<Record<string, string>> {
  const members = archiveMembers(await readFile(path));
  expect(Object.keys(members)).toEqual(['debian-binary', 'control.tar.gz', 'data.tar.gz']);
  expect(String(members['debian-binary'])).toBe('2.0\n');
  const archives = ['control.tar.gz', 'data.tar.gz'].map((name) => gunzipSync(members[name]!));
  const entries = (await Promise.all(archives.map((one) => unpackTar(one)))).flat();
  return Object.fromEntries(
    entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()]),
  );
}

it('writes a package for webOS, which holds what the panel reads and the address', async () => {
  const out = join(await temporaryFolder(), 'player.ipk');
  const words = ['player', 'package', 'webos', '--url', `${url}/player`, '--insecure-http'];
  const { code, json } = await runCli([...words, '--out', out, '-o', 'json'], { env });
  expect(code).toBe(0);
  const { length: bytes } = await readFile(out);
  expect(json).toEqual({ file: out, opens: `${url}/player`, bytes, isReached: true });
  const files = await filesOf(out);
  const app = 'usr/palm/applications/com.lg.app.signage';
  const { id, main, icon, largeIcon, type, version } = JSON.parse(files[`${app}/appinfo.json`]!);
  expect({ id, main, type }).toEqual({
    id: 'com.lg.app.signage',
    main: 'index.html',
    type: 'web',
  });
  for (const name of [main, icon, largeIcon]) expect(files[`${app}/${name}`]).not.toBe('');
  expect(files[`${app}/index.html`]).toContain(`"${url}/player"`);
  expect(files.control).toMatch(
    new RegExp(`^Package: com\\.lg\\.app\\.signage\nVersion: ${version}\n`),
  );
  expect(JSON.parse(files['usr/palm/packages/com.lg.app.signage/packageinfo.json']!)).toMatchObject(
    { app: id, id, version },
  );
});

it('writes the script of a BrightSign player, turned, for a service that only the panel reaches', async () => {
  const out = join(await temporaryFolder(), 'autorun.brs');
  const words = ['player', 'package', 'brightsign', '--url', 'https://player.invalid/shop'];
  const { code, json, stderr } = await runCli(
    [...words, '--rotate', '270', '--out', out, '-o', 'json'],
    { env },
  );
  expect(code).toBe(0);
  expect(json).toMatchObject({ isReached: false });
  expect(stderr).toContain('https://player.invalid/shop/player cannot be reached, asked from');
  const script = await readFile(out, 'utf8');
  expect(script).toContain('address = "https://player.invalid/shop/player#rotate=270"\r\n');
  expect(script.split('\r\n').filter((line) => /[^\x20-\x7e]/.test(line))).toEqual([]);
});

it.each([
  ['http://127.0.0.1:4100', 2, 'is this machine itself'],
  ['http://player.invalid', 2, 'is not encrypted'],
])('refuses %s', async (address, code, why) => {
  const out = join(await temporaryFolder(), 'app.ipk');
  const run = await runCli(['player', 'package', 'webos', '--url', address, '--out', out], { env });
  expect(run.code).toBe(code);
  expect(run.stderr).toContain(why);
  expect(await readdir(join(out, '..'))).toEqual([]);
});

it('refuses a service without a player, and an existing file', async () => {
  const out = join(await temporaryFolder(), 'app.ipk');
  const words = ['player', 'package', 'webos', '--insecure-http', '--out', out, '--url'];
  const absent = await runCli([...words, withoutPlayer], { env });
  expect(absent.code).toBe(3);
  expect(absent.stderr).toContain('--no-player');
  expect(await readdir(join(out, '..'))).toEqual([]);
  expect(await runCli([...words, url], { env })).toMatchObject({ code: 0 });
  const before = await readFile(out);
  const again = await runCli([...words, url], { env });
  expect(again.code).toBe(2);
  expect(await readFile(out)).toEqual(before);
});
