// Secrets must not appear outside their place. secrets.full.ts also uses a database and a process.
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { serve } from '../../../src/serve.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { keyFile } from '../../support/statements/seller.ts';
import { filesIn, searchSecrets } from './checker.ts';
import { serveRecorded } from './recorded.ts';
import { runCommands } from './run-commands.ts';
import { runTools } from './run-tools.ts';
import { sentElsewhere } from './sent-elsewhere.ts';

it('appear in no file, copy, backup, log, metric, answer, audit entry, or output of a command or tool', async () => {
  const folder = await temporaryFolder();
  const statementKeyFile = await keyFile();
  const key = (await readFile(statementKeyFile, 'utf8')).trim();
  const { places, found } = await searchSecrets({
    store: folder,
    start: (options) => serve({ ...options, statementKeyFile }),
    secrets: { 'the key of statements': key.slice(key.lastIndexOf('+') + 1) },
    contents: () => filesIn(folder),
    also: async (...all) => [...(await runCommands(...all)), ...(await runTools(...all))],
  });
  expect(found).toEqual([]);
  expect(places).toBeGreaterThan(200);
}, 180_000);

it('appear in no recording, although all requests pass through the recorder', async () => {
  const { start, places } = await serveRecorded();
  const search = await searchSecrets({
    store: 'memory:',
    misplaced: 8,
    start,
    contents: places,
    also: runCommands,
  });
  expect(search.found).toEqual([]);
  const [output, recording] = await places();
  for (const { contents } of [output, recording].filter((place) => place !== undefined))
    expect(contents.toString()).toContain('/v1/screens/:id');
}, 180_000);

it('are sent to no other address', async () => {
  expect(await sentElsewhere()).toEqual([]);
});
