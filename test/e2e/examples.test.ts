// Runs the TypeScript programs of the pages as they stand, against the packed package.
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { beforeAll, describe, expect, it } from 'vitest';
import { compile, installPackage, resolutions } from '../support/installed-package.ts';
import { checkout } from '../support/signage-process.ts';

const run = promisify(execFile);

interface Program {
  name: string;
  text: string;
  /** What it prints, from the next block of the page. `undefined`: the page does not say. */
  prints: string | undefined;
}

/** Returns the programs of a page. Their first line names the file; `page` names those without. */
async function programsOf(page: string): Promise<Program[]> {
  const text = await readFile(join(checkout, page), 'utf8');
  const blocks = [...text.matchAll(/^```(ts|text)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, kind, body = ''], index) => {
    if (kind !== 'ts' || !body.includes('import ')) return [];
    const [, named] = /^\/\/ (\S+\.ts)\n/.exec(body) ?? [];
    const [, nextKind, next] = blocks[index + 1] ?? [];
    const name = named ?? `${page.replace(/\W/g, '-')}-${index}.ts`;
    return [{ name, text: body, prints: nextKind === 'text' ? next : undefined }];
  });
}

/** Packages of users that the programs import. */
const others = ['express', '@types/express', 'fastify', 'vitest'];

/** Path of a compiled program in the folder. */
const compiled = (name: string) => join('out-nodenext', name.replace(/ts$/, 'js'));

const isTest = ({ name }: Program) => name.includes('.test.');

describe('the programs of the pages', () => {
  let folder: string;
  let programs: Program[];
  /** Errors of the compiler, by module resolution. */
  let errors: string[];

  beforeAll(async () => {
    ({ folder } = await installPackage());
    for (const name of others) {
      const target = join(folder, 'node_modules', name);
      await mkdir(dirname(target), { recursive: true });
      await symlink(join(checkout, 'node_modules', name), target);
    }
    const pages = [
      'docs/toolkit.md',
      'README.md',
      'docs/tv.md',
      'docs/simulate.md',
      'docs/conformance.md',
    ];
    programs = (await Promise.all(pages.map(programsOf))).flat();
    for (const { name, text } of programs) await writeFile(join(folder, name), text);
    const files = programs.map(({ name }) => name);
    // The declarations of hono need those of the DOM.
    const options = { lib: ['es2023', 'dom', 'esnext.disposable'] };
    errors = [];
    for (const resolution of resolutions)
      errors.push(await compile(folder, files, resolution, options));
  }, 180_000);

  it('are all found', () => {
    expect(programs.map(({ name }) => name)).toEqual([
      'tv-app.ts',
      'tv-app.test.ts',
      'mount.ts',
      'fleet.ts',
      'own-parts.ts',
      'own-store.test.ts',
      'codes.ts',
      expect.stringContaining('README'),
      expect.stringContaining('tv'),
      expect.stringContaining('simulate'),
      expect.stringContaining('conformance'),
      expect.stringContaining('conformance'),
    ]);
  });

  it('compile with each module resolution', () => {
    expect(errors).toEqual(resolutions.map(() => ''));
  });

  it('run, and print what the page says', { timeout: 180_000 }, async () => {
    const check = async ({ name, prints }: Program) => {
      const { stdout, stderr } = await run(process.execPath, [compiled(name)], {
        cwd: folder,
      });
      expect(stderr, name).toBe('');
      if (prints !== undefined) expect(stdout, name).toBe(prints);
    };
    // Most programs wait most of their time. More of them at once would starve the exam of a TV.
    const atOnce = pLimit(2);
    await atOnce.map(
      programs.filter((one) => !isTest(one)),
      check,
    );
  });

  it('pass, if they are tests', { timeout: 180_000 }, async () => {
    const tests = programs.filter(isTest).map(({ name }) => compiled(name));
    const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
    const argv = [vitest, 'run', '--dir', folder, ...tests];
    const { stdout } = await run(process.execPath, argv, {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/^ ✓ out-nodenext\/tv-app\.test\.js \(2 tests\)/m);
    expect(stdout).toMatch(/^ ✓ out-nodenext\/own-store\.test\.js \(\d{3} tests\)/m);
  });
});
