import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/cli/command/parse.ts';
import { plainArguments } from '../../../src/cli/command/plain-arguments.ts';
import { defineCommand, one, optional, some } from '../../../src/cli/command/spec.ts';
import { text } from '../../../src/cli/options/option.ts';

const base = { summary: 'Try', examples: [], effect: 'alone', run: async () => {} } as const;
const shell = defineCommand({
  ...base,
  arguments: { shell: one('a shell'), words: some('words') },
});
const pair = defineCommand({ ...base, arguments: { from: one('one'), to: one('another') } });

const words = fc.array(
  fc.constantFrom('bash', 'signage venue ', '', '--', '-', '-q', '--quiet', 'a=b'),
  { maxLength: 5 },
);

describe('plainArguments', () => {
  it.each([
    [shell, ['bash'], ['bash', []]],
    [shell, ['bash', '--', 'signage -o j'], ['bash', ['signage -o j']]],
    [shell, ['fish', '--', '--url', '--', ''], ['fish', ['--url', '--', '']]],
    [pair, ['a', 'b'], ['a', 'b']],
  ])('returns the arguments: %#', (spec, given, expected) =>
    expect(plainArguments(spec, given)).toEqual(expected),
  );

  it.each([
    [shell, []],
    [shell, ['--quiet']],
    [shell, ['bash', '-x', '--', 'a']],
    [pair, ['a']],
    [pair, ['a', 'b', 'c']],
    [defineCommand({ ...base, options: { url: text('--url <url>', 'where') } }), []],
    [defineCommand({ ...base, effect: 'reads' }), []],
    [defineCommand({ ...base, arguments: { place: optional('where') } }), ['here']],
  ])('leaves options and wrong usage to commander: %#', (spec, given) =>
    expect(plainArguments(spec, given)).toBeUndefined(),
  );

  it.each([[shell], [pair]])('agrees with commander: %#', (spec) => {
    fc.assert(
      fc.property(words, (given) => {
        const plain = plainArguments(spec, given);
        if (plain)
          expect(plain).toEqual(
            parseCommand('signage try', spec, given).given.map((one) => one ?? []),
          );
      }),
    );
  });
});
