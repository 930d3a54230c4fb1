// A restored service may run beside the original: then both would notify the receivers.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { type Receiver, startReceiver } from '../../support/network/webhook-receiver.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';
import { cliOf, runCli } from '../run-cli.ts';

type Service = TestService<typeof systemClock>;

let folder: string;
let backup: string;
let receiver: Receiver;
let ids: { active: string; paused: string };
const warnings: string[] = [];
const log = {
  debug: () => {},
  info: () => {},
  error: () => {},
  warn: (_: object, message: string) => void warnings.push(message),
};
const start = (store: string): Promise<Service> =>
  startService({ store, clock: systemClock, log, webhookAllow: ['127.0.0.1'] });

beforeAll(async () => {
  folder = await temporaryFolder();
  backup = join(folder, 'monday.dump');
  receiver = await startReceiver();
  const service = await start(join(folder, 'original'));
  const made = async (name: string) =>
    (await service.manage('POST', '/v1/webhooks', { url: receiver.url, name })).body.id as string;
  ids = { active: await made('Alarm'), paused: await made('Chat') };
  await service.manage('PATCH', `/v1/webhooks/${ids.paused}`, { state: 'paused' });
  await cliOf(service, adminToken)(['data', 'backup', '--out', backup]);
  await service.close();
});

const places = [
  ['a data folder', async () => join(await temporaryFolder(), 'data')],
  ['a database', freshDatabase],
] as const;
const restoreTo = (store: string, ...more: string[]) =>
  runCli(
    ['data', 'restore', backup, '-o', 'json', ...more],
    store.startsWith('postgres') ? { env: { SIGNAGE_STORE: store } } : {},
  );
const into = (store: string) => (store.startsWith('postgres') ? [] : ['--data', store]);

describe.each(places)('signage data restore into %s', (_, place) => {
  it('2 without --webhooks where nobody can answer, and restores nothing', async () => {
    const store = await place();
    const { code, stderr } = await restoreTo(store, ...into(store));
    expect([code, stderr]).toEqual([2, expect.stringContaining('--webhooks pause')]);
    expect(stderr).toContain('Nothing was restored.');
    if (!store.startsWith('postgres')) expect(await readdir(join(store, '..'))).toEqual([]);
    expect((await restoreTo(store, ...into(store), '--webhooks', 'resume')).code).toBe(0);
  });

  it('--webhooks pause notifies nobody until webhook resume --all, and status and doctor say so', async () => {
    const store = await place();
    const restored = await restoreTo(store, ...into(store), '--webhooks', 'pause');
    expect(restored.json).toMatchObject({ pausedWebhooks: 1 });
    expect(restored.stderr).toContain('1 webhook is paused');
    warnings.length = 0;
    receiver.received.length = 0;
    const copy = await start(store);
    const cli = cliOf(copy, adminToken);
    const webhook = async (id: string) => (await copy.manage('GET', `/v1/webhooks/${id}`)).body;
    expect(await webhook(ids.active)).toMatchObject({ state: 'paused', stateReason: 'restored' });
    expect(await webhook(ids.paused)).toMatchObject({ state: 'paused', stateReason: null });
    const { id } = await copy.screen();
    await copy.manage('PUT', `/v1/screens/${id}/playlist`, { items: [item()] });
    await expect
      .poll(() => warnings.filter((message) => message.includes('a backup was restored')))
      .toHaveLength(1);

    const viewer = cliOf(copy, await copy.token('viewer'));
    const status = await viewer(['status']);
    expect([status.code, status.stderr]).toEqual([9, expect.stringContaining('resume --all')]);
    expect((await viewer(['status', '--fail-on', 'none'])).code).toBe(0);
    const doctor = await viewer(['doctor', '-o', 'json']);
    expect(doctor.json).toContainEqual(
      expect.objectContaining({ check: 'webhooks', next: 'signage webhook resume --all' }),
    );
    expect(receiver.received).toEqual([]);

    expect((await cli(['webhook', 'resume', '--all'])).code).toBe(0);
    expect(await webhook(ids.active)).toMatchObject({ state: 'active', stateReason: null });
    expect(await webhook(ids.paused)).toMatchObject({ state: 'paused' });
    await expect.poll(() => receiver.received.length).toBe(1);
    expect((await viewer(['status'])).code).toBe(0);
    await copy.close();
  });

  it('--webhooks resume lets them send on', async () => {
    const store = await place();
    const restored = await restoreTo(store, ...into(store), '--webhooks', 'resume');
    expect(restored.json).toMatchObject({ pausedWebhooks: 0 });
    const copy = await start(store);
    expect((await copy.manage('GET', `/v1/webhooks/${ids.active}`)).body.state).toBe('active');
    expect((await cliOf(copy, adminToken)(['status'])).code).toBe(0);
    await copy.close();
  });
});
