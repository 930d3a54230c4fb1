import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { rankedRoles } from '../../../src/domain/records/role.ts';
import { type Operation, operations } from '../../../src/wire/operations/operations.ts';

const transcript = await readFile(new URL('changing-commands.txt', import.meta.url), 'utf8');
const steps = transcript.split('\n$ ');

function roleBelow({ access }: Operation): string | undefined {
  const ranked: readonly string[] = rankedRoles;
  return ranked[ranked.indexOf(access === 'backup' ? 'platform' : access) - 1];
}

const changing = Object.values<Operation>(operations).flatMap((operation) => {
  const { method, command, record } = operation;
  if (method === 'GET' || command === undefined) return [];
  return { command: command.join(' '), role: roleBelow(operation), isNamed: record !== undefined };
});

describe('test/cli/program/changing-commands.txt shows signage', () => {
  it.each(changing)('$command with --dry-run, for role and name', ({ command, role, isNamed }) => {
    const line = `signage ${command} `;
    const ran = (start: string, end: RegExp) =>
      steps.some((step) => step.startsWith(start) && end.test(step));
    expect(ran(line, /^.* --dry-run.*\n(?:! .*\n)* {2}REQUEST/)).toBe(true);
    expect(ran(`SIGNAGE_TOKEN=<${role} token> ${line}`, /^\[exit 4\]$/m)).toBe(true);
    if (isNamed) expect(ran(line, /^.* (?:Nowhere|ZZZZ2222)\b[\s\S]*\n\[exit 3\]$/m)).toBe(true);
  });
});
