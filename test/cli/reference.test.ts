import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { commandPaths } from '../../src/cli/command/tree.ts';
import { cliReference } from '../config/cli-reference.ts';

it('docs/cli.md matches the command specifications (after a change, run this file with -u)', async () => {
  const page = await cliReference();
  for (const path of commandPaths)
    expect(page).toContain(`### signage ${path.filter((word) => word !== undefined).join(' ')}\n`);
  await expect(page).toMatchFileSnapshot(
    fileURLToPath(new URL('../../docs/cli.md', import.meta.url)),
  );
});
