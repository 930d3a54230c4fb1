import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { impression } from '../../support/service/content.ts';
import { sendTo } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';
import { serving } from './serving.ts';

const start = (data: string, ...argv: string[]) => serving(['--demo', '--data', data, ...argv]);
const newFolder = async () => join(await temporaryFolder(), 'data');

const managementOf = async (url: string, data: string) =>
  new ManagementClient({ url, token: (await readFile(join(data, 'admin-token'), 'utf8')).trim() });

const register = (url: string, pairingCode: string) =>
  sendTo(url, 'POST', '/devices/register', { body: { pairingCode, deviceInfo: {} } });

describe('signage serve --demo', () => {
  let data: string;
  beforeAll(async () => {
    data = await newFolder();
  });

  it('pairs three TVs with screens of the demo, and prints their events as they arrive', async () => {
    const { io, url, stop } = await serving(['--demo', '--data', data], { isTTY: true });
    await io.until(/Aurora Café \/ Window +impression {2}Good morning, 2 s/);
    expect(io.out().match(/^ {2}Aurora .*: paired$/gm)).toHaveLength(3);
    expect(io.out()).toMatch(/mak_\w{49}/);
    const management = await managementOf(url, data);
    const screens = await management.call('listScreens', { query: { state: 'active' } });
    expect(screens.items).toHaveLength(3);
    const devices = await management.call('listDevices');
    expect(devices.items.map(({ simulated }) => simulated)).toEqual([true, true, true]);
    const free = await management.call('listScreens', { query: { state: 'provisioning' } });
    expect(free.items.length).toBeGreaterThan(0);
    expect(await stop()).toBe(0);
  });

  it('prints the command that shows the board', async () => {
    const { io } = await start(await newFolder());
    const [, line = ''] = /^Look: +signage (board --open .*)$/m.exec(io.out()) ?? [];
    const { code, stdout, stderr } = await runCli(line, {
      async during(board) {
        await board.until(/an hour after its last viewer/);
        board.signal('SIGINT');
      },
    });
    expect([code, stdout]).toEqual([130, expect.stringMatching(/^Board +http:\S+\n$/)]);
    expect(stderr).toContain('unpaired');
  });

  it('makes a browser a TV with the code that it prints', async () => {
    const { io, url } = await start(await newFolder());
    const [, code = ''] =
      /Open http:\S+\/player in a browser and type (\w{4}-\w{4}) within 15 minutes/.exec(
        await io.until(/Open .* within 15 minutes/),
      ) ?? [];
    const { status, body } = await register(url, code.replace('-', ''));
    expect(status).toBe(201);
    expect((await fetch(`${url}/player`)).status).toBe(200);
    const path = `/devices/${body.screenId}/playlist`;
    const playlist = await sendTo(url, 'GET', path, { key: body.apiKey });
    expect(playlist.status).toBe(200);
    await io.until(/^\d\d:\d\d:\d\d {2}Aurora Riverside \/ Bar +paired$/m);
    const { creativeId } = playlist.body.items[0];
    const reported = await sendTo(url, 'POST', `/devices/${body.deviceId}/events`, {
      key: body.apiKey,
      headers: { 'idempotency-key': 'one' },
      body: [impression({ creativeId, duration: 5 })],
    });
    expect(reported.status).toBe(202);
    await io.until(/Aurora Riverside \/ Bar +impression {2}Good morning, 5 s/);
  });

  it('offers another screen to a browser when the first one has a TV', async () => {
    const folder = await newFolder();
    const offered = async () => {
      const { io, url, stop } = await start(folder);
      const pattern = /in your browser, for (.*):\n {2}Open \S+ in a browser and type (\S+)/;
      await io.until(/Events as they arrive/);
      const [, place, code = ''] = pattern.exec(io.out()) ?? [];
      const { status, body } = await register(url, code.replace('-', ''));
      expect(status).toBe(201);
      const path = `/devices/${body.deviceId}/playlist`;
      const playlist = await sendTo(url, 'GET', path, { key: body.apiKey });
      expect(playlist.status).toBe(200);
      await stop();
      return place;
    };
    expect([await offered(), await offered()]).toEqual([
      'Aurora Riverside / Bar',
      'Aurora Riverside / Bar 2',
    ]);
  });

  it('prints another code when no browser has used the first in time', async () => {
    const clock = new ManualClock(Date.now());
    const { io } = await serving(['--demo', '--data', await newFolder()], { clock });
    await io.until(/within 15 minutes[\s\S]*Events as they arrive/);
    const renewed = /The code has expired\. Open \S+ in a browser and type (\w{4}-\w{4}) within/;
    clock.advance(15 * 60_000);
    const soon = () => {
      clock.advance(200);
      return io.out();
    };
    await expect.poll(soon).toMatch(renewed);
    expect(renewed.exec(io.out())?.[1]).not.toBe(/type (\w{4}-\w{4})/.exec(io.out())?.[1]);
    expect(io.out().match(/type \w{4}-\w{4}/g)).toHaveLength(2);
  });

  it('names no player that is turned off', async () => {
    const { io } = await start(await newFolder(), '--no-player');
    await io.until(/Events as they arrive/);
    expect(io.out()).not.toContain('/player');
  });

  it('replaces its TVs at a second start with the same data folder, and says so', async () => {
    const { io, url } = await start(data);
    await io.until(/Window +impression/);
    expect(io.out().match(/paired again, replacing the TV of the last run/g)).toHaveLength(3);
    expect(io.out() + io.err()).not.toContain('mak_');
    const management = await managementOf(url, data);
    expect((await management.call('listScreens')).items).toHaveLength(4);
    expect(
      (await management.call('listDevices', { query: { state: 'bound' } })).items,
    ).toHaveLength(3);
    expect(
      (await management.call('listDevices', { query: { state: 'suspended' } })).items,
    ).toHaveLength(3);
  });

  it('leaves a screen alone that was paired with another TV', async () => {
    const first = await start(data);
    await first.io.until(/Events as they arrive/);
    const management = await managementOf(first.url, data);
    // The TV that reports most often notices its revocation first.
    const screen = (await management.call('listScreens', { query: { name: 'Window' } })).items[0]!;
    await management.call('revokeDevice', { params: { id: screen.deviceId! }, body: {} });
    await first.io.until(/was unpaired and stops/);
    const { code } = await management.call('createCode', { body: { screenId: screen.id } });
    const { deviceId } = (await register(first.url, code)).body;
    await first.stop();
    const second = await start(data);
    await second.io.until(/Events as they arrive/);
    expect(second.io.out().match(/paired again/g)).toHaveLength(2);
    const device = await (await managementOf(second.url, data)).call('getDevice', {
      params: { id: deviceId },
    });
    expect(device.state).toBe('bound');
  });

  it('changes nothing in a store without the demo data', async () => {
    const other = await newFolder();
    const { url, stop } = await serving(['--data', other]);
    const management = await managementOf(url, other);
    const { id: venueId } = await management.call('createVenue', { body: { name: 'Real' } });
    await management.call('createScreen', { body: { venueId, name: 'Entrance' } });
    await stop();
    const demo = await start(other);
    await demo.io.until(/this store has no free screens of the demo/);
    const after = await managementOf(demo.url, other);
    expect((await after.call('listScreens')).items.map((one) => one.state)).toEqual([
      'provisioning',
    ]);
    expect((await after.call('listDevices')).items).toEqual([]);
  });

  it('asks for the platform token when it is unknown', async () => {
    await rm(join(data, 'admin-token'));
    const { io } = await start(data);
    await io.until(/Set SIGNAGE_ADMIN_TOKEN/);
    expect(io.out()).not.toContain('Simulated TVs');
  });
});
