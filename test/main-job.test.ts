// What `npm start` starts, as a newcomer meets it.
import { exec } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { ManagementClient } from '../src/client/management-client.ts';
import { temporaryFolder } from './support/disk/temporary-folder.ts';
import { checkout, endProcesses, startProcess } from './support/process/signage-process.ts';

const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const [build, serve = ''] = (scripts.start ?? '').split(' && ');
const inShell = promisify(exec);

afterEach(endProcesses);

/** Starts what `npm start` starts, on a free port and a folder of its own. */
const start = (data: string, port = '0') =>
  startProcess(serve.split(' ').slice(1), { env: { SIGNAGE_DATA: data, SIGNAGE_PORT: port } });

async function allEvents(url: string, data: string) {
  const management = new ManagementClient({
    url,
    token: readFileSync(join(data, 'admin-token'), 'utf8').trim(),
  });
  const events: { id: string; type: unknown }[] = [];
  for await (const { id, event } of management.all('listEvents', { query: { limit: 200 } }))
    events.push({ id, type: event.type });
  return { management, events };
}

describe('npm start', () => {
  it('builds, and serves the demonstration', () => {
    expect(build).toBe('npm run build');
    expect(serve).toMatch(/^node bin\/signage\.js serve --demo$/);
  });

  it('shows events as they arrive, stops with 0, and goes on from there the next time', {
    timeout: 60_000,
  }, async () => {
    const data = join(await temporaryFolder(), 'data');
    const first = start(data);
    const [url] = await first.until(/http:\/\/127\.0\.0\.1:\d+/);
    await first.until(/Window +impression {2}\S.*, \d+ s\n/);
    const [, command] = await first.until(/Try: +(curl .*)\n/);
    expect(JSON.parse((await inShell(`${command} --silent --max-time 5`)).stdout)).toMatchObject({
      role: 'platform',
    });
    expect(statSync(join(data, 'admin-token')).mode & 0o777).toBe(0o600);
    const before = await allEvents(url, data);
    const { items: screens } = await before.management.call('listScreens');
    first.signal('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(first.out() + first.err()).not.toMatch(/[dm]ak_\w/);
    expect(first.err()).not.toMatch(/"level":"(warn|error)"/);

    const second = start(data);
    const [again] = await second.until(/http:\/\/127\.0\.0\.1:\d+/);
    await second.until(/Window +impression/);
    expect(second.out()).toContain('paired again, replacing the TV of the last run');
    const after = await allEvents(again, data);
    expect(after.events.map((one) => one.id)).toEqual(
      expect.arrayContaining(before.events.map((one) => one.id)),
    );
    expect((await after.management.call('listScreens')).items.map((one) => one.id)).toEqual(
      screens.map((one) => one.id),
    );
    expect(second.err()).not.toMatch(/"level":"(warn|error)"/);
    second.signal('SIGINT');
    expect(await second.ended).toBe(0);
  });

  it('says which port is taken, what to do, and leaves the other alone', {
    timeout: 60_000,
  }, async () => {
    const folder = await temporaryFolder();
    const first = start(join(folder, 'one'));
    const [url] = await first.until(/http:\/\/127\.0\.0\.1:\d+/);
    const { port } = new URL(url);
    const second = start(join(folder, 'two'), port);
    expect(await second.ended).toBe(5);
    expect(second.out()).toBe('');
    expect(second.err()).toContain(`127.0.0.1:${port}`);
    expect(second.err()).toContain('--port 0');
    expect(second.err()).not.toContain('    at ');
    const third = start(join(folder, 'one'));
    expect(await third.ended).toBe(5);
    expect(third.err()).toContain(join(folder, 'one'));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('stops at once at the second signal, whatever is under way', { timeout: 60_000 }, async () => {
    const service = start(join(await temporaryFolder(), 'data'));
    const [url] = await service.until(/http:\/\/127\.0\.0\.1:\d+/);
    await service.until(/Events as they arrive/);
    const slow = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    slow.write(
      'POST /devices/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    );
    await new Promise((done) => slow.once('ready', done));
    await fetch(`${url}/healthz`);
    service.signal('SIGTERM');
    await service.until(/Interrupt again to stop at once/);
    const askedAt = performance.now();
    service.signal('SIGTERM');
    expect(await service.ended).toBe(143);
    expect(performance.now() - askedAt).toBeLessThan(3000);
    expect(service.err()).not.toContain('Stopped.');
    slow.destroy();
  });
});
