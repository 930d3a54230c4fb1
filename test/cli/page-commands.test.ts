// Parses every command line of README.md and docs/ as the program does.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readAssignment } from '../../src/cli/input/config-path.ts';
import { makeProgram } from '../../src/cli/program/parser.ts';
import { tree } from '../../src/cli/tree.ts';
import { fakeIo } from '../support/process/fake-io.ts';
import { signageCommands, simpleCommands } from '../support/process/shell-commands.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = [
  'README.md',
  ...readdirSync(`${root}docs`, { recursive: true }).map((name) => `docs/${name}`),
]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }));
const commands = pages.flatMap(signageCommands);

/** Returns what is wrong with a command line. `undefined`: the program accepts it. */
async function mistake(words: readonly string[]): Promise<string | undefined> {
  if (['--version', 'help', 'version'].includes(words[0] ?? '--version')) return undefined;
  if (words.includes('--help')) return undefined;
  const { root } = makeProgram(tree, fakeIo(), async (_, command) => {
    if (command.parent?.name() !== 'config' || command.name() !== 'set') return;
    for (const word of command.args.filter((one) => /[={[]/.test(one))) readAssignment(word);
  });
  return root.parseAsync([...words], { from: 'user' }).then(
    () => undefined,
    ({ message }: Error) => message,
  );
}

describe('the command lines of README.md and docs/', () => {
  it.each(pages.map(({ path }) => path))('are accepted by the program: %s', async (path) => {
    const wrong: string[] = [];
    for (const { line, words, ...one } of commands) {
      if (one.path !== path) continue;
      const why = await mistake(words);
      if (why !== undefined) wrong.push(`${path}:${line}: signage ${words.join(' ')}: ${why}`);
    }
    expect(wrong).toEqual([]);
  });

  it('are found: each page that names many commands has some', () => {
    const amount = (path: string) => commands.filter((one) => one.path === path).length;
    process.stdout.write(`${commands.length} command lines of signage in the pages are parsed\n`);
    expect(commands.length).toBeGreaterThan(300);
    expect(amount('README.md')).toBeGreaterThan(12);
    expect(amount('docs/operations.md')).toBeGreaterThan(25);
    expect(amount('docs/runbook.md')).toBeGreaterThan(10);
  });
});

describe('the reader of command lines', () => {
  it.each([
    ['signage a --b c', [['signage', 'a', '--b', 'c']]],
    ["signage a 'b c' # comment", [['signage', 'a', 'b c']]],
    [
      'X=1 signage a | jq . && rm x',
      [
        ['X=1', 'signage', 'a'],
        ['jq', '.'],
        ['rm', 'x'],
      ],
    ],
    ['A=$(signage a -o name); echo "$A"', [['signage', 'a', '-o', 'name'], ['A=x'], ['echo', 'x']]],
    [
      'f "a $(signage b)" 2>/dev/null >out',
      [
        ['signage', 'b'],
        ['f', 'a x'],
      ],
    ],
    [
      'source <(signage c)',
      [
        ['signage', 'c'],
        ['source', 'x'],
      ],
    ],
  ])('splits %s', (line, expected) => expect(simpleCommands(line)).toEqual(expected));

  it.each([
    [['venue', 'creat', '--name', 'x']],
    [['config', 'set', '--venue', 'Lobby', '{player:{fit:cover}}']],
    [['status', '--no-such-option']],
    [['nothing', 'such']],
  ])('finds the mistake of %j', async (words) => {
    expect(await mistake(words)).toBeDefined();
  });
});
