import { describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

/** Runs a command line without a service. Returns its message and its advice. */
async function mistake(line: string) {
  const { code, stdout, stderr } = await runCli(line.split(' '));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return stderr;
}

describe('an argument too many', () => {
  it.each([
    ['venue create Lobby', 'Did you mean --name Lobby?'],
    ['venue create Main lobby', "Did you mean --name 'Main lobby'?"],
    ['venue create Lobby --name Foyer', 'See signage venue create --help.'],
    ['screen create Main', 'It needs --venue <venue> and --name <name>.'],
    ['screen create Main --venue Lobby', 'Did you mean --name Main?'],
    ['apply a.csv b.csv', 'Did you mean -f a.csv -f b.csv?'],
    ['token create Fitter --role installer', 'Did you mean --name Fitter?'],
    ['login https://signage.example.com', 'Did you mean --url https://signage.example.com?'],
    ['serve 4177', 'Did you mean --port 4177?'],
    ['screen list Lobby', 'Did you mean --venue Lobby?'],
    ['screen list active', 'Did you mean --state active?'],
    ['event list Lobby/Main', 'Did you mean --screen Lobby/Main?'],
    ['data restore monday.tar ./new', 'Did you mean --data ./new?'],
    ['pair Lobby Main', 'Did you mean Lobby/Main?'],
    ['screen get Lobby/Wall 1', 'Put a name with spaces in quotes: "Lobby/Wall 1".'],
    ['whoami me', 'See signage whoami --help.'],
  ])('2 for "%s": %s', async (line, advice) => {
    const stderr = await mistake(line);
    expect(stderr).toMatch(/^signage: Unexpected arguments?: ".+"\.\n/);
    expect(stderr).toContain(`\n  ${advice}`);
  });
});

describe('a secret that is an argument too many', () => {
  it.each([
    `login mak_${'S3cret'.repeat(6)}`,
    `token create dak_${'S3cret'.repeat(6)}`,
    'store migrate postgres://signage:S3cret@db.example.com/signage',
    `pair Lobby mak_${'S3cret'.repeat(6)}`,
  ])('is not repeated (%#)', async (line) => {
    const stderr = await mistake(line);
    expect(stderr).not.toContain('S3cret');
    expect(stderr).toContain('Unexpected argument.\n  It looks like a secret');
  });
});

describe('a secret in a wrong place', () => {
  const secret = `mak_${'S3cret'.repeat(6)}`;
  it.each([
    [`login --token=${secret}`, "Unknown option '--token'."],
    [`login --token=${secret} --token-stdin`, "Unknown option '--token'."],
    [`login -x${secret}`, 'Unknown option.'],
    [`login -yx${secret}`, 'Unknown option.'],
    [`venue list --${secret}`, 'Unknown option.'],
    [`venue list --quiet=${secret}`, 'The option --quiet takes no value.'],
    [secret, 'Unknown command.'],
    [`--token=${secret}`, "Unknown option '--token'."],
    [`venue ${secret}`, 'Unknown command.'],
    [`venue --token=${secret}`, "Unknown option '--token'."],
    [`screen get ${secret} Main`, 'Unexpected argument.'],
    ['login --store=postgres://signage:S3cret@db.example.com', "Unknown option '--store'."],
    [`whoami --token-file ${secret}`, 'No such file: … (the token file).'],
    [`login --token-file ${secret}`, 'No such file: … (the token file).'],
    [`apply -f ${secret}`, 'No such file: ….'],
    [
      `token create --name x --role viewer --output-file ${secret}/x`,
      'No such folder: … (--output-file).',
    ],
  ])('2 for "%s", and is not repeated: %s', async (line, message) => {
    const stderr = await mistake(line);
    expect(stderr).not.toContain('S3cret');
    expect(stderr).toContain(`signage: ${message}\n  It looks like a secret`);
    const { detail, hint } = JSON.parse(await mistake(`${line} -o json`));
    expect(detail).toBe(message);
    expect(hint).toMatch(/^It looks like a secret/);
    expect(hint).not.toContain('S3cret');
  });
});

describe('an option with a value that it does not take', () => {
  it.each([
    ['screen delete Lobby/Main --force=yes', 'The option --force takes no value.'],
    ['venue list --no-input=1', 'The option --no-input takes no value.'],
    ["venue list --frob=it's=so", "Unknown option '--frob'."],
    ['venue list --serch=x', "Unknown option '--serch' (Did you mean --search?)"],
  ])('2 for "%s": %s', async (line, message) => {
    expect(await mistake(line)).toContain(`signage: ${message}\n  See signage `);
  });
});

describe('a pairing code without --code', () => {
  it.each(['tv ABCD2345', 'tv ABCD 2345'])('is not repeated: %s', async (line) => {
    expect(await mistake(line)).toBe(
      'signage: Unexpected argument.\n  Did you mean --code, for a pairing code? See signage tv --help.\n',
    );
  });
});

describe('a file without the required --file', () => {
  it('2, with the option to give', async () => {
    expect(await mistake('playlist publish Lobby/Main package.json')).toMatch(
      /^signage: --file must be given \(.+\)\.\n {2}Did you mean -f package\.json\?\n$/,
    );
    for (const other of ['no-such.json', 'docs', 'x'.repeat(5000)])
      expect(await mistake(`playlist publish Lobby/Main ${other}`)).toMatch(
        /^signage: --file must be given \(.+\)\.\n$/,
      );
  });
});

describe('a missing argument', () => {
  it('2, with its description', async () => {
    const stderr = await mistake('data restore');
    expect(stderr).toContain('The argument <file> is missing: the tar file written by');
  });
});

describe('a wrong name of a command', () => {
  it.each([
    ['get screen', 'Did you mean signage screen get?'],
    ['list screens', 'Did you mean signage screen list?'],
    ['screens list', 'Did you mean signage screen list?'],
    ['delete screen Lobby/Main', 'Did you mean signage screen delete?'],
    ['create venue Lobby', 'Did you mean signage venue create?'],
    ['publish Lobby/Main', 'Did you mean signage playlist publish?'],
    ['unpair Lobby/Main', 'Did you mean signage device revoke?'],
    ['list', 'Did you mean signage venue list or signage screen list or signage device list?'],
    ['venue ls', 'Did you mean signage venue list?'],
    ['screen show Lobby/Main', 'Did you mean signage screen get?'],
    ['screen pair Lobby/Main', 'Did you mean signage pair?'],
    ['wait Lobby/Main', 'The commands are screen, device.'],
    ['nonsense', 'See signage --help.'],
  ])('2 for "%s": %s', async (line, advice) => {
    const stderr = await mistake(line);
    expect(stderr).toMatch(/^signage: Unknown command '[^']+'\.\n/);
    expect(stderr).toContain(`\n  ${advice}`);
  });

  it('keeps the suggestion for a mistyped one', async () => {
    expect(await mistake('screen lst')).toContain("Unknown command 'lst' (Did you mean list?)\n");
  });
});
