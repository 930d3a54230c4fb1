import { describe, expect, it } from 'vitest';
import { describeSetting } from '../../../src/cli/input/settings.ts';
import { commonOptionsOf, sharedGroups } from '../../../src/cli/input/shared.ts';
import { tree } from '../../../src/cli/tree.ts';
import { allCommands } from '../../support/process/commands.ts';
import { runCli } from '../run-cli.ts';

const commands = await allCommands();
const shared = Object.values(sharedGroups).flatMap((group) => Object.values(group));
const sharedOptions = () => runCli(['help', 'options']);

/** Swaps two neighbouring letters, as a typo. */
function mistyped(word: string): string {
  const letters = [...word];
  const at = letters.findIndex(
    (letter, index) =>
      index > 0 &&
      letter !== '-' &&
      letters[index + 1] !== letter &&
      /\w/.test(letters[index + 1] ?? ''),
  );
  return [...letters.slice(0, at), letters[at + 1], letters[at], ...letters.slice(at + 2)].join('');
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

async function expectSuggestion(argv: string[], suggestion: string): Promise<void> {
  const { code, stdout, stderr } = await runCli(argv);
  expect({ code, stdout }, argv.join(' ')).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/Did you mean/);
  expect(stderr).toContain(suggestion);
}

describe.each(commands)('signage $name', ({ name: called, spec }) => {
  const words = called.split(' ');

  it('--help shows summary, usage and examples', async () => {
    const { code, stdout, stderr } = await runCli([...words, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: signage ${called}\\b`));
    expect(oneLine(stdout)).toContain(spec.summary);
    for (const [name, { help }] of Object.entries(spec.arguments ?? {})) {
      const forms = [`<${name}>`, `[${name}]`, `<${name}...>`, `[${name}...]`].map((form) =>
        oneLine(`${form} ${help}`),
      );
      expect(
        forms.some((form) => oneLine(stdout).includes(form)),
        `${name} in ${stdout}`,
      ).toBe(true);
    }
    const common = Object.entries(commonOptionsOf(spec));
    const settings = [spec.options ?? {}, ...common.map(([, group]) => group)].flatMap((group) =>
      Object.values(group),
    );
    const sharedHelp = oneLine((await sharedOptions()).stdout);
    for (const setting of settings) {
      const text = `${setting.flags} ${oneLine(describeSetting(setting))}`;
      const isOwn = Object.values(spec.options ?? {}).includes(setting);
      const isShared = shared.includes(setting) && !isOwn;
      expect([isShared, oneLine(stdout).includes(text)]).toEqual([isShared, !isShared]);
      if (isShared) expect(sharedHelp).toContain(text);
    }
    expect(stdout.includes('signage help options')).toBe(common.length > 0);
    expect(stdout).not.toContain('preset:');
    expect(stdout.split('\nExamples:\n')[1]).toContain(`signage ${called}`);
  });

  it('is suggested for a mistyped name', async () => {
    const last = words.at(-1) ?? '';
    await expectSuggestion([...words.slice(0, -1), mistyped(last)], last);
  });

  it('suggests the right option for a mistyped one', async () => {
    for (const { flags } of Object.values(spec.options ?? {})) {
      const long = /--[\w-]+(?= |$)/.exec(flags)?.[0];
      if (long === undefined) continue;
      await expectSuggestion([...words, mistyped(long)], long);
    }
  });
});

it.each(['venue delete', 'login'])('signage help %s is its --help', async (words) => {
  const { stdout } = await runCli(`${words} --help`);
  expect(await runCli(`help ${words}`)).toMatchObject({ code: 0, stdout });
});

it('the right shared option is suggested for a mistyped one', async () => {
  const { spec } = commands.find(({ name }) => name === 'venue delete')!;
  for (const group of Object.values(commonOptionsOf(spec))) {
    for (const { flags } of Object.values(group)) {
      const long = /--[\w-]+/.exec(flags)![0];
      await expectSuggestion(['venue', 'delete', mistyped(long)], long);
    }
  }
});

describe.each(Object.entries(tree.nouns))('signage %s', (name, summary) => {
  const own = commands.filter(({ path: [noun, verb] }) => noun === name && verb !== undefined);
  const verbs = own.map(({ path: [, verb] }) => verb ?? '');

  it('--help lists its commands with their summaries', async () => {
    const { code, stdout } = await runCli([name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(summary);
    for (const { spec } of own) expect(oneLine(stdout)).toContain(oneLine(spec.summary));
    const [, examples = ''] = stdout.split('\nExamples:\n');
    expect(examples).toContain(own[0]?.spec.examples[0]?.[0]);
  });

  it('without a verb lists its commands on stderr, and ends with 2', async () => {
    const { code, stdout, stderr } = await runCli([name]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(verbs[0]);
  });

  it('is suggested for a mistyped noun', async () => {
    await expectSuggestion([mistyped(name), verbs[0] ?? ''], name);
  });
});

describe('line width of help', () => {
  /** The lines that help wraps: all except usage and examples. */
  const wrapped = (help: string) => (help.split('\nExamples:\n')[0] ?? '').split('\n').slice(1);
  const widest = (help: string) => Math.max(...wrapped(help).map((line) => line.length));

  it.each([
    [40, 40],
    [66, 66],
    [100, 100],
    [200, 200],
    // 40 is the minimum.
    [12, 40],
    [1, 40],
  ])('a terminal of %i columns gets lines of at most %i', async (columns, most) => {
    for (const argv of [
      ['--help'],
      ['venue', '--help'],
      ['pair', '--help'],
      ['login', '-h'],
      ['venue', 'list', '-h'],
    ]) {
      const { stdout } = await runCli(argv, { tty: true, columns });
      expect(widest(stdout), stdout).toBeLessThanOrEqual(most);
    }
    const { stdout } = await runCli(['pair', '--help'], { tty: true, columns });
    expect(widest(stdout)).toBeGreaterThan(most * 0.7);
    expect(oneLine(stdout)).toBe(oneLine((await runCli(['pair', '--help'])).stdout));
  });

  it('keeps the entries of a list apart', async () => {
    const { stdout } = await runCli(['status', '--help'], { tty: true, columns: 60 });
    expect(stdout).toContain(
      '\n- unconfirmed: its TV calls, and has not reported that it\n  plays\n- idle: ',
    );
  });

  it('is at most 80 without a terminal, or with one of unknown width', async () => {
    const { stdout } = await runCli(['pair', '--help']);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    expect(widest(stdout)).toBeGreaterThan(70);
    expect((await runCli(['pair', '--help'], { tty: true })).stdout).toBe(stdout);
  });

  it('fits the terminal also for help on stderr', async () => {
    const { code, stderr } = await runCli(['venue'], { tty: true, columns: 50 });
    expect(code).toBe(2);
    expect(widest(stderr)).toBeLessThanOrEqual(50);
  });
});
