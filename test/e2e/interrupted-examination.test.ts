// Ctrl-C and SIGTERM while the built command line examines a hostile file.
import { link, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { withTracks } from '../faults/examination/lying-videos.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { endProcesses, startProcess } from '../support/process/signage-process.ts';
import { adminToken, startService } from '../support/service/service.ts';

afterEach(endProcesses);

it.each([
  ['SIGINT', 130, 'show'],
  ['SIGTERM', 143, 'media add'],
] as const)('%s ends with %i within a second: signage %s', async (signal, code, command) => {
  const service = await startService();
  const { id } = await service.screen();
  const folder = await temporaryFolder();
  // Each takes 300 ms. They are so many that the signal comes in time on any machine.
  const files = Array.from({ length: 30 }, (_, n) => join(folder, `tracks-${n}.mp4`));
  const [first = '', ...others] = files;
  await writeFile(first, withTracks(1_000_000));
  for (const other of others) await link(first, other);
  const env = {
    SIGNAGE_URL: service.url,
    SIGNAGE_TOKEN: adminToken,
    XDG_CONFIG_HOME: await temporaryFolder(),
  };
  const words = command === 'show' ? ['show', id, '--duration', '10s'] : ['media', 'add'];
  const signage = startProcess(['bin/signage.js', ...words, ...files], { env });
  await new Promise((resolve) => setTimeout(resolve, 1200));
  const start = performance.now();
  signage.signal(signal);
  expect(await signage.ended, signage.err()).toBe(code);
  expect(performance.now() - start).toBeLessThan(1000);
});
