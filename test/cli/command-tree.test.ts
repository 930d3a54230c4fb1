import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadCommand } from '../../src/cli/command/load.ts';
import { type CommandPath, commandPaths, tree } from '../../src/cli/command/tree.ts';
import { type Operation, type OperationId, operations } from '../../src/wire/operations.ts';

const folder = fileURLToPath(new URL('../../src/cli/commands', import.meta.url));
const name = (path: CommandPath) => path.filter((word) => word !== undefined).join(' ');

it('every command of the tree has a file, and every file a command', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  expect(files.map((file) => file.replace('.ts', '').replace(/[\\/]/, ' ')).toSorted()).toEqual(
    commandPaths.map(name).toSorted(),
  );
});

it('every operation with a command is the operation of that command', async () => {
  for (const [id, { command }] of Object.entries<Operation>(operations)) {
    if (!command) continue;
    const { operation } = await loadCommand(command);
    expect([operation].flat(), name(command)).toContain(id as OperationId);
  }
});

describe.each(commandPaths.map((path) => [name(path), path] as const))(
  'signage %s',
  (called, path) => {
    it('has a summary of one line, and examples', async () => {
      const { summary, examples } = await loadCommand(path);
      expect(summary).toMatch(/^[A-Z][^\n]*[^.\n]$/);
      expect(examples.length).toBeGreaterThan(0);
      for (const [line] of examples) expect(line).toContain(`signage ${called}`);
      if (path[1] === undefined)
        expect(tree.find((branch) => branch.name === called)?.summary).toBe(summary);
    });

    it('names its own operations, and declares its effect', async () => {
      const { operation, effect } = await loadCommand(path);
      for (const id of [operation ?? []].flat()) {
        const { command, method } = operations[id] as Operation;
        expect(command).toEqual(path);
        if (method !== 'GET') expect(['changes', 'destroys']).toContain(effect);
      }
    });
  },
);
