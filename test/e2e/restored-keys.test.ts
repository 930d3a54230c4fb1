// A backup is put back that is older than the keys of some TVs: they go back to the former ones,
// and nobody has to visit them.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Clock, minuteMs, systemClock } from '../../src/domain/clock.ts';
import { restoreStore } from '../../src/store/maintenance/restore.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { adminToken, startService } from '../support/service/service.ts';
import { virtualTv } from '../support/tv/virtual-tv.ts';

it('a TV that changed its key since the backup works again after it is put back, as the same device', async () => {
  const folder = await temporaryFolder();
  const before = await startService<Clock>({ store: join(folder, 'before'), clock: systemClock });
  const { code, screenId } = await before.code();
  const tv = virtualTv({
    url: before.url,
    nextCode: async (why) => (why === 'new' ? code : undefined),
  });
  await tv.player.run(undefined, minuteMs);
  const { deviceId } = tv.player.state;
  const backup = await fetch(`${before.url}/v1/backup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const tar = await backup.arrayBuffer();
  const former = (await tv.memory.load())?.binding?.apiKey;
  await tv.player.rotateKey();
  await tv.player.fetchConfig();
  const newer = (await tv.memory.load())?.binding?.apiKey;
  expect(newer).not.toBe(former);
  await before.close();

  await restoreStore(new Blob([tar]).stream(), join(folder, 'after'));
  const after = await startService<Clock>({ store: join(folder, 'after'), clock: systemClock });
  const asked: string[] = [];
  const nextCode = async (why: string) => void asked.push(why);
  const again = virtualTv({
    url: after.url,
    memory: tv.memory,
    nextCode: nextCode as () => Promise<undefined>,
    rotateEveryMs: minuteMs,
  });
  expect(await again.player.run(undefined, 5 * minuteMs)).toEqual({ reason: 'stopped' });
  expect(asked).toEqual([]);
  expect(again.told.answers[0]).toMatchObject({ status: 401, code: 'device_key_invalid' });
  expect(again.told.answers.filter(({ status }) => status === 401)).toHaveLength(1);
  // And it goes on changing its key, from the one that works.
  const last = (await tv.memory.load())?.binding;
  expect(last).toMatchObject({ deviceId, screenId });
  expect([former, newer]).not.toContain(last?.apiKey);
  const answered = async (key = '') => {
    const { status, body } = await after.send('GET', `/devices/${screenId}/config`, { key });
    return body?.code ?? status;
  };
  expect(await answered(last?.apiKey)).toBe(200);
  expect(await answered(newer)).toBe('device_key_invalid');
});
