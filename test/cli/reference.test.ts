import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { cliReference } from '../config/cli-reference.ts';
import { allCommands } from '../support/process/commands.ts';

it('docs/cli.md matches the command specifications (after a change, run this file with -u)', async () => {
  const page = await cliReference();
  for (const { name } of await allCommands()) expect(page).toContain(`### signage ${name}\n`);
  await expect(page).toMatchFileSnapshot(
    fileURLToPath(new URL('../../docs/cli.md', import.meta.url)),
  );
});
