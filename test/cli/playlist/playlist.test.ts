import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { json, stubService } from '../../support/network/stub-service.ts';
import { item } from '../../support/service/content.ts';
import { runCli, startCli } from '../run-cli.ts';

let started: Awaited<ReturnType<typeof startCli>>;
let main: { id: string };
beforeAll(async () => {
  started = await startCli();
  main = await started.service.screen({ name: 'Main' });
});

describe('signage playlist publish', () => {
  it.each(['json', 'yaml'])('publishes what playlist get shows as %s', async (form) => {
    const { cli, service } = started;
    const items = [item({ campaignId: item().creativeId })];
    await service.manage('PUT', `/v1/screens/${main.id}/playlist`, { items });
    const { id } = await service.screen();
    const { stdout } = await cli(['playlist', 'get', main.id, '-o', form]);
    expect((await cli(['playlist', 'publish', id, '-f', '-'], { stdin: stdout })).code).toBe(0);
    const { body } = await service.manage('GET', `/v1/screens/${id}/playlist`);
    expect(body.items).toEqual(items);
  });

  it('publishes the example of README', async () => {
    const [line = ''] =
      /signage playlist publish .*json/.exec(await readFile('README.md', 'utf8')) ?? [];
    const words = line.replace('Lobby/Main', main.id).split(' ').slice(1);
    expect((await started.cli([...words, '--dry-run'])).code).toBe(0);
  });

  it('6 for {media} in an example, with what to do', async () => {
    const example = ['-f', 'fixtures/playlists/welcome.json'];
    const { code, stderr } = await started.cli(['playlist', 'publish', 'Main', ...example]);
    expect(code).toBe(6);
    expect(stderr).toContain('replace {media} by the URL of your media folder.');
  });
});

it('signage playlist get prints an invalid end unchanged, and escapes the status', async () => {
  const id = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
  const screen = {
    id,
    tenantId: id,
    venueId: id,
    name: 'x',
    hours: null,
    labels: {},
    state: 'active',
  };
  const times = { createdAt: '', updatedAt: '' };
  const playlist = { id, tenantId: id, screenId: id, version: 1, validUntil: 9e20, items: [] };
  const stub = await stubService(
    json(200, { ...screen, ...times, deviceId: null, provisioningCode: null }),
    json(200, { ...playlist, status: '\u001b]0;x\u0007' }),
    json(200, { ...screen, ...times, address: null, timezone: null }),
  );
  const env = { SIGNAGE_URL: stub.url, SIGNAGE_TOKEN: 'mak_x' };
  const run = await runCli(['playlist', 'get', id], { env });
  expect(run.stderr).toBe('');
  expect(run.stdout).toContain('900000000000000000000');
  expect(run.stdout).toContain('\\u001b]0;x\\u0007');
});
