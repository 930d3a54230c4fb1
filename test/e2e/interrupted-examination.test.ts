// Ctrl-C and SIGTERM while the built command line examines many files.
import { link, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { png } from '../support/network/media-server.ts';
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
  // They are so many that the signal comes in time on any machine.
  const files = Array.from({ length: 400 }, (_, n) => join(folder, `picture-${n}.png`));
  const [first = '', ...others] = files;
  await writeFile(first, Buffer.concat([png([1, 2, 3], 4000, 4000), Buffer.alloc(4_000_000)]));
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
