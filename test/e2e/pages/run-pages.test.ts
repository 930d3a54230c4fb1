// Runs the command lines of README.md and docs/ as their readers do.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { signageCommands } from '../../support/process/shell-commands.ts';
import { filesOfPages } from './page-world.ts';
import { isDone, runPageCommand } from './run-page-command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const commands = ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) => signageCommands({ path, text: readFileSync(`${root}${path}`, 'utf8') }));

/** Why a command line is not run here, by an expression for it. */
const notRun: readonly (readonly [form: RegExp, reason: string])[] = [
  [/s3:\/\//, 'needs a bucket: test/cli/serve/object-store.test.ts'],
  [/database\.url|store (?:migrate|copy)/, 'needs PostgreSQL: test/cli/data/store.test.ts'],
  [/^signage (?:pair|login)$|login .*--context/, 'asks: test/cli/pair, test/cli/api'],
  [/login .*--device/, 'needs two people: test/cli/connection'],
  [/^signage simulate /, 'takes minutes: test/cli/simulate'],
  [/^signage conformance$|^signage conformance (?:-o|--url)/, 'takes a minute: test/conformance'],
  [/--staged/, 'holds for ten minutes: test/cli/playlist/staged.test.ts'],
  [/^signage tv$|--tv(?: |$)/, 'asks, or needs a TV: test/cli/tv, test/cli/pair'],
  [/^signage statement (?:get|resume --last)/, 'needs sealed days: test/cli/statement'],
  [/^signage conformance --tv/, 'takes minutes, and a TV: test/e2e/exam'],
];

const lineOf = (words: readonly string[]) => ['signage', ...words].join(' ');

it('at least 90 % of the command lines do what their page says', async () => {
  const folder = await filesOfPages();
  const before = process.cwd();
  process.chdir(folder);
  const wrong: string[] = [];
  const left: string[] = [];
  const done = new Map<string, boolean>();
  try {
    for (const { path, line, words } of commands) {
      if (process.env.PAGES && !new RegExp(process.env.PAGES).test(lineOf(words))) continue;
      const text = lineOf(words);
      const at = `${path}:${line}: ${text}`;
      const why = notRun.find(([form]) => form.test(text))?.[1];
      if (why) left.push(`${at} (${why})`);
      else if (!done.has(text)) {
        const started = Date.now();
        const run = await runPageCommand(words, folder);
        if (process.env.PAGES) console.log(`${Date.now() - started} ms ${run.code} ${at}`);
        done.set(text, isDone(words, run));
        if (!isDone(words, run)) wrong.push(`${at}: exit ${run.code}: ${run.stderr}`);
        if (process.env.PAGES && !isDone(words, run)) console.log(run.stderr);
      }
    }
  } finally {
    process.chdir(before);
  }
  const run = commands.length - left.length;
  const share = Math.floor((1000 * run) / commands.length) / 10;
  console.log(`${run} of ${commands.length} command lines of the pages are run: ${share} %`);
  for (const one of left) console.log(`not run: ${one}`);
  expect(wrong).toEqual([]);
  expect(share).toBeGreaterThanOrEqual(90);
}, 1_800_000);
