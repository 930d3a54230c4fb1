import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAsset } from '../../../src/package/assets.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

/** Runs a shell program with the script and a fake `signage` that records its arguments. */
async function run(shell: string, answer: string, program: string) {
  const folder = await temporaryFolder();
  const asked = join(folder, 'asked');
  writeFileSync(join(folder, 'answer'), answer);
  writeFileSync(join(folder, 'script'), readAsset('completion', `signage.${shell}`));
  writeFileSync(
    join(folder, 'signage'),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${asked}'\ncat '${folder}/answer'\n`,
  );
  chmodSync(join(folder, 'signage'), 0o755);
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder };
  const stdout = execFileSync(shell, ['-c', program], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return {
    stdout,
    asked: existsSync(asked) ? readFileSync(asked, 'utf8').split('\n').slice(0, -1) : undefined,
    folder,
  };
}

describe.runIf(isThere('bash'))('bash (skipped where it is not installed)', () => {
  const complete = (line: string) => `source ./script
    compopt() { printf 'compopt %s %s\\n' "$1" "$2"; }
    COMP_LINE='${line} and more' COMP_POINT=${line.length} COMP_WORDS=(signage)
    _signage
    printf 'word %s\\n' "\${COMPREPLY[@]}"`;

  it('passes the line up to the cursor', async () => {
    const { asked, stdout } = await run('bash', 'list\nget\n', complete('signage venue '));
    expect(asked).toEqual(['completion', 'bash', '--', 'signage venue ']);
    expect(stdout).toBe('word list\nword get\n');
  });

  it('never evaluates the candidates', async () => {
    const hostile = ['$(touch pwned)', '`touch pwned`', 'a;touch pwned', '\\$HOME *'];
    const { stdout, folder } = await run(
      'bash',
      `${hostile.join('\n')}\n`,
      complete('signage venue get '),
    );
    expect(stdout).toBe(hostile.map((word) => `word ${word}\n`).join(''));
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });

  it('adds no space after an unfinished word', async () => {
    expect((await run('bash', 'Lobby/\n', complete('signage doctor L'))).stdout).toBe(
      'compopt -o nospace\nword Lobby/\n',
    );
  });

  it('leaves file names to the shell', async () => {
    expect((await run('bash', '\t\n', complete('signage apply -f '))).stdout).toBe(
      'compopt -o default\nword \n',
    );
  });

  it.each([
    ['an alias of a path', 'alias signage="$PWD/signage"', 'signage'],
    ['an alias of several words', 'alias sg="env X=1 signage"', 'sg'],
    ['a path below ~', ':', '~/signage'],
  ])('completes after %s', async (_, define, called) => {
    const program = complete(`${called} `).replace('(signage)', `('${called}')`);
    const { asked } = await run('bash', 'venue\n', `${define}; ${program}`);
    expect(asked).toEqual(['completion', 'bash', '--', `${called} `]);
  });

  it('is registered for signage', async () => {
    expect((await run('bash', '', 'source ./script; complete -p signage')).stdout).toBe(
      'complete -F _signage signage\n',
    );
  });
});

describe.runIf(isThere('zsh'))('zsh (skipped where it is not installed)', () => {
  const complete = (words: string, current: number, prefix: string) => `
    compadd() { print -r -- "compadd \${(j:|:)texts} \${(j:|:)shown}"; }
    _files() { print files; }
    compdef() { print "compdef $*"; }
    source ./script
    words=(${words}) CURRENT=${current} PREFIX='${prefix}'
    _signage`;

  it('passes the words unquoted', async () => {
    const { asked, stdout } = await run(
      'zsh',
      'Main Lobby\tx $(touch pwned)\n',
      complete(`signage venue get '"Main L'`, 4, 'Main L'),
    );
    expect(asked).toEqual(['completion', 'zsh', '--', 'venue', 'get', 'Main L']);
    expect(stdout).toBe(
      'compdef _signage signage signage.js\ncompadd Main Lobby Main Lobby  -- x $(touch pwned)\n',
    );
  });

  it('leaves file names to the shell', async () => {
    expect((await run('zsh', '\t\n', complete('signage apply -f ""', 4, ''))).stdout).toContain(
      'files\n',
    );
  });
});

describe.runIf(isThere('fish'))('fish (skipped where it is not installed)', () => {
  it('offers the candidates', async () => {
    const program = `source ./script; complete -C 'signage venue '`;
    expect((await run('fish', 'list\tList venues\nMain $(x)\t\n', program)).stdout).toBe(
      'list\tList venues\nMain $(x)\n',
    );
  });

  it('completes after an alias', async () => {
    const program = `alias sg="$PWD/signage"; source ./script; complete -c sg -a '(__signage_complete)'
      complete -C 'sg venue '`;
    expect((await run('fish', 'list\tList venues\n', program)).asked).toEqual([
      'completion',
      'fish',
      '--',
      'venue',
      '',
    ]);
  });
});
