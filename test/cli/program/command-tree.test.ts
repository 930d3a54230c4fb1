import { describe, expect, it } from 'vitest';
import { tree } from '../../../src/cli/tree.ts';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';
import { allCommands } from '../../support/process/commands.ts';

const commands = await allCommands();

it('every operation names an existing command, and the command of a changing operation declares its effect', () => {
  for (const [id, { command, method }] of Object.entries<Operation>(operations)) {
    if (!command) continue;
    const found = commands.find(({ name }) => name === command.join(' '));
    expect(found, id).toBeDefined();
    if (method !== 'GET') expect(['changes', 'destroys'], id).toContain(found?.spec.effect);
  }
});

describe.each(commands)('signage $name', ({ name, spec: { summary, examples } }) => {
  it('has a summary of one line, and examples', () => {
    expect(summary).toMatch(/^[A-Z][^\n]*[^.\n]$/);
    expect(examples.length).toBeGreaterThan(0);
    for (const [line] of examples) expect(line).toContain(`signage ${name}`);
    if (Object.hasOwn(tree.single, name)) expect(tree.single[name]).toBe(summary);
  });
});
