// Runs §10 of docs/protocol.md by bash and curl. Compares statuses and answers with the page.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { checkout } from '../support/process/signage-process.ts';
import { adminToken, startService } from '../support/service/service.ts';

const page = readFileSync(join(checkout, 'docs/protocol.md'), 'utf8');
const exchange = page.split(/^(?=## )/m).find((one) => one.startsWith('## 10 ')) ?? '';
const blocks = [...exchange.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
  ([, language, text = '']) => ({
    language,
    text,
  }),
);
const commented = (text: string) =>
  [...text.matchAll(/^# (\d{3})$/gm)].map(([, one]) => Number(one));

/** The answers that the page shows, each with the number of commands above it. */
const shown = blocks.flatMap(({ language, text }, index) => {
  if (language === 'sh') return [];
  const above = blocks.slice(0, index).filter((one) => one.language === 'sh');
  const [head = '', body = ''] = language === 'http' ? text.split('\n\n') : ['', text];
  return [
    { blocks: above.length, curls: above.flatMap((one) => commented(one.text)).length, head, body },
  ];
});

const which = (program: string) =>
  spawnSync('bash', ['-c', `type -P ${program}`], { encoding: 'utf8' }).stdout?.trim() ?? '';
const curl = which('curl');
const version = curl && spawnSync(curl, ['--version'], { encoding: 'utf8' }).stdout;
const [, major = 0, minor = 0] = /^curl (\d+)\.(\d+)/.exec(version) ?? [];
const hasCurl = Number(major) * 1000 + Number(minor) >= 7084;

/** Prints what curl prints, and notes headers and output of each answer in files. */
const recordingCurl = `#!/usr/bin/env bash
at=$(find . -name '*.head' | wc -l)
'${curl}' --dump-header "$at.head" "$@" | tee "$at.output"
exit "\${PIPESTATUS[0]}"
`;
/** `jq -r .member`: a machine may have no jq. */
const littleJq = `#!${process.execPath}
const member = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))[process.argv[3].slice(1)];
if (process.argv[2] !== '-r' || typeof member !== 'string') throw new Error(process.argv.join(' '));
console.log(member);
`;

describe.skipIf(!hasCurl)('docs/protocol.md §10 in bash (needs curl 7.84 or newer)', () => {
  let folder: string;
  const read = (name: string) => readFile(join(folder, name), 'utf8');

  async function answer(at: number) {
    const [statusLine = '', ...lines] = (await read(`${at}.head`)).trim().split('\r\n');
    const pairs = lines.map((line) => /^(.*?): *(.*)$/.exec(line)?.slice(1) as [string, string]);
    const output = await read(`${at}.output`);
    const body = output.startsWith('HTTP/') ? output.slice(output.indexOf('\r\n\r\n') + 4) : output;
    return { statusLine, headers: new Headers(pairs), body };
  }

  /** Returns a pattern for a text of the page: variables have the values after this block. */
  async function patterns(block: number) {
    const variables = new Map(
      (await read(`${block}.env`)).split('\0').map((one) => {
        const [name = ''] = one.split('=', 1);
        return [name, one.slice(name.length + 1)];
      }),
    );
    return (text: string) => {
      const filled = text.replace(
        /\$([A-Z_]+)/g,
        (_, name) => variables.get(name) ?? expect.fail(name),
      );
      const parts = filled.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      return expect.stringMatching(new RegExp(`^${parts.join('[\\s\\S]+')}$`));
    };
  }

  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const [name, text] of Object.entries({ curl: recordingCurl, jq: littleJq }))
      await writeFile(join(folder, name), text, { mode: 0o755 });
    const scripts = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const script = scripts.map((text, index) => `${text}\nenv -0 > ${index + 1}.env\n`).join('');
    const { url } = await startService();
    await promisify(execFile)('bash', ['-eua', '-o', 'pipefail', '-c', script], {
      cwd: folder,
      env: {
        PATH: `${folder}${delimiter}${process.env.PATH}`,
        SIGNAGE_URL: url,
        SIGNAGE_TOKEN: adminToken,
      },
    });
  });

  it('has the status under each command', async () => {
    const heads = (await readdir(folder)).filter((name) => name.endsWith('.head'));
    const statuses = [];
    for (const at of heads.keys())
      statuses.push(Number((await answer(at)).statusLine.split(' ')[1]));
    expect(statuses).toEqual(commented(exchange));
    expect(statuses).toEqual([
      201, 201, 201, 201, 200, 200, 200, 200, 304, 200, 202, 202, 200, 200, 401, 201,
    ]);
  });

  it.each(shown)(
    'answers command $curls as the page shows',
    async ({ blocks, curls, head, body }) => {
      const { statusLine, headers, body: real } = await answer(curls - 1);
      const pattern = await patterns(blocks);
      const [status = '', ...lines] = head.split('\n').filter((line) => line !== '');
      expect(statusLine).toContain(status);
      for (const line of lines) {
        const [name = '', value = ''] = line.split(/: (.*)/);
        expect(headers.get(name), name).toEqual(pattern(value));
      }
      if (body === '') return;
      // The page may omit members, but not show an empty object for one that has members.
      const expected = JSON.parse(body, (_, value) => {
        if (typeof value === 'string') return pattern(value);
        const isEmpty = typeof value === 'object' && value && Object.keys(value).length === 0;
        return isEmpty ? expect.toSatisfy((one: object) => Object.keys(one).length === 0) : value;
      });
      expect(JSON.parse(real)).toMatchObject(expected);
    },
  );
});
