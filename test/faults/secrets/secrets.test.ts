// That no secret stands where it does not belong; with a database and a process of its own in
// secrets.full.ts.
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { filesIn, searchSecrets } from './checker.ts';
import { runCommands } from './run-commands.ts';
import { sentElsewhere } from './sent-elsewhere.ts';

it('stand in no file, copy, backup, log, metric, answer, audit entry or word of a command', async () => {
  const folder = await temporaryFolder();
  const { places, found } = await searchSecrets({
    store: folder,
    contents: () => filesIn(folder),
    also: runCommands,
  });
  expect(found).toEqual([]);
  expect(places).toBeGreaterThan(200);
}, 60_000);

it('are sent to no other address than the one they are for', async () => {
  expect(await sentElsewhere()).toEqual([]);
});
