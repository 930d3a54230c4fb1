// Compares docs/protocol.md with the code: replays §10, and compares codes, paths and sections.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../src/serve.ts';
import { errorKinds } from '../../src/wire/errors.ts';
import { type Operation, operations } from '../../src/wire/operations.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/protocol.md', root), 'utf8');

/** The text from one heading to the next of its level. */
function section(heading: string): string {
  const level = heading.slice(0, heading.indexOf(' '));
  const from = page.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`docs/protocol.md has no heading "${heading}"`);
  const to = page.indexOf(`\n${level} `, from + 1);
  return page.slice(from, to < 0 ? undefined : to);
}

// ---- a small shell for the commands of §10 ----

/** Part of a shell word: literal text or a variable. */
type Piece = string | { name: string; quoted: boolean; fallback?: string };
type Word = Piece[];
type Token =
  | { is: 'word'; word: Word }
  | { is: 'comment'; text: string }
  | { is: 'capture'; name: string }
  | { is: '|' }
  | { is: ')' }
  | { is: 'newline' };
interface Command {
  /** Variable for the output of the pipeline. */
  capture?: string;
  pipeline: Word[][];
  /** Expected status, from the comment under the command. */
  status?: number;
}

/** A variable at the start: `$NAME`, `${NAME}`, `${NAME:-fallback}`, `${NAME:?complaint}`. */
const variable = /^\$(?:([A-Z_]+)|\{([A-Z_]+)(?::([-?])([^{}$"'`\\]*))?\})/;

function readVariable(text: string, quoted: boolean): { piece: Piece; length: number } {
  const match = variable.exec(text);
  if (!match) throw new Error(`not understood: ${text.slice(0, 40)}`);
  const fallback = match[3] === '-' ? match[4] : undefined;
  return {
    piece: { name: match[1] ?? match[2]!, quoted, ...(fallback === undefined ? {} : { fallback }) },
    length: match[0].length,
  };
}

function readDoubleQuoted(text: string): { pieces: Word; length: number } {
  const pieces: Word = [''];
  for (let at = 1; at < text.length; ) {
    if (text[at] === '"') return { pieces, length: at + 1 };
    if (text[at] === '$') {
      const { piece, length } = readVariable(text.slice(at), true);
      pieces.push(piece);
      at += length;
      continue;
    }
    if (text[at] === '`' || text.startsWith('\\\n', at))
      throw new Error(`not understood: ${text.slice(at, at + 40)}`);
    if (text[at] === '\\' && '"\\$`'.includes(text[at + 1]!)) at++;
    pieces.push(text[at++]!);
  }
  throw new Error(`a quote is not closed: ${text.slice(0, 40)}`);
}

function readWord(text: string): { word: Word; length: number } {
  const word: Word = [];
  let at = 0;
  while (at < text.length && !/[\s|)]/.test(text[at]!)) {
    const rest = text.slice(at);
    const plain = /^[A-Za-z0-9_.,:/=@%+-]+/.exec(rest)?.[0] ?? /^'[^']*'/.exec(rest)?.[0];
    if (plain !== undefined) {
      word.push(plain.startsWith("'") ? plain.slice(1, -1) : plain);
      at += plain.length;
      continue;
    }
    const read = rest.startsWith('"') ? readDoubleQuoted(rest) : undefined;
    const single = read ? undefined : readVariable(rest, false);
    word.push(...(read?.pieces ?? [single!.piece]));
    at += read?.length ?? single!.length;
  }
  return { word, length: at };
}

function* tokens(text: string): Generator<Token> {
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const [space] = /^(?:[ \t]|\\\n)+/.exec(rest) ?? [];
    const [comment] = /^#.*/.exec(rest) ?? [];
    const [capture] = /^[A-Z_]+=\$\(/.exec(rest) ?? [];
    const { word, length } =
      (space ?? comment ?? capture) ? { word: [], length: 0 } : readWord(rest);
    if (comment) yield { is: 'comment', text: comment };
    else if (capture) yield { is: 'capture', name: capture.slice(0, -3) };
    else if (length > 0) yield { is: 'word', word };
    else if (rest.startsWith('\n')) yield { is: 'newline' };
    else if (rest.startsWith('|')) yield { is: '|' };
    else if (rest.startsWith(')')) yield { is: ')' };
    else if (!space) throw new Error(`not understood: ${rest.slice(0, 40)}`);
    at += (space ?? comment ?? capture)?.length ?? Math.max(length, 1);
  }
}

function parse(text: string): Command[] {
  const commands: Command[] = [];
  let current: Command | undefined;
  let closed = true;
  for (const token of tokens(`${text}\n`)) {
    if (token.is === 'newline') {
      if (!closed) throw new Error(`$( is not closed: ${current?.capture}`);
      current = undefined;
    } else if (token.is === 'comment') {
      const status = /^# (\d{3})$/.exec(token.text)?.[1];
      const last = commands.at(-1);
      if (!status || !last || last.status) throw new Error(`not understood: ${token.text}`);
      last.status = Number(status);
    } else if (token.is === ')') {
      if (closed) throw new Error('unexpected )');
      closed = true;
    } else {
      if (current?.capture && closed)
        throw new Error(`unexpected word after ${current.capture}=$(…)`);
      current ??= commands[commands.push({ pipeline: [[]] }) - 1]!;
      if (token.is === 'capture') {
        current.capture = token.name;
        closed = false;
      } else if (token.is === '|') current.pipeline.push([]);
      else current.pipeline.at(-1)!.push(token.word);
    }
  }
  return commands;
}

/** Answer to the last curl. */
interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

const asHeader = (line: string): [string, string] => [
  line.slice(0, line.indexOf(':')),
  line.slice(line.indexOf(':') + 1).trim(),
];

class Shell {
  readonly variables: Record<string, string>;
  last: Answer | undefined;

  constructor(variables: Record<string, string>) {
    this.variables = { ...variables };
  }

  expand(word: Word): string {
    return word.map((piece) => (typeof piece === 'string' ? piece : this.value(piece))).join('');
  }

  private value({ name, quoted, fallback }: Exclude<Piece, string>): string {
    const value = this.variables[name] || fallback;
    if (!value) throw new Error(`${name} has no value`);
    if (!quoted && /[\s*?[]/.test(value))
      throw new Error(`$${name} stands outside quotes, and bash would split it: ${value}`);
    return value;
  }

  async run({ capture, pipeline, status }: Command): Promise<void> {
    const first = pipeline[0]![0]!;
    const assigned = typeof first[0] === 'string' ? /^([A-Z_]+)=/.exec(first[0]) : null;
    if (assigned) {
      if (pipeline.length > 1 || pipeline[0]!.length > 1 || capture)
        throw new Error(`not understood after ${assigned[0]}`);
      this.variables[assigned[1]!] = this.expand(first).slice(assigned[0].length);
      return;
    }
    let output = '';
    for (const words of pipeline)
      output = await this.program(
        words.map((word) => this.expand(word)),
        output,
        status,
      );
    if (capture) this.variables[capture] = output.replace(/\n+$/, '');
  }

  private program(
    [name, ...args]: string[],
    input: string,
    status: number | undefined,
  ): Promise<string> | string {
    if (name === 'echo' && args.length === 1) return `${args[0]}\n`;
    if (name === 'jq' && args.length === 2 && args[0] === '-r') return this.jq(args[1]!, input);
    if (name === 'curl') return this.curl(args, status);
    throw new Error(`not understood: ${[name, ...args].join(' ')}`);
  }

  private jq(filter: string, input: string): string {
    const member: unknown = JSON.parse(input)[/^\.([A-Za-z]+)$/.exec(filter)?.[1] ?? ''];
    if (typeof member !== 'string') throw new Error(`jq ${filter} finds no string in ${input}`);
    return `${member}\n`;
  }

  private async curl(args: string[], status: number | undefined): Promise<string> {
    let method: string | undefined;
    let url: string | undefined;
    let body: string | undefined;
    let written: string | undefined;
    let silent: string | undefined;
    let discarded: string | undefined;
    const headers = new Headers();
    for (let at = 0; at < args.length; at++) {
      const argument = args[at]!;
      if (argument === '-sS') silent = argument;
      else if (argument === '-X') method = args[++at];
      else if (argument === '-H') headers.append(...asHeader(args[++at]!));
      else if (argument === '-d' && !args[at + 1]!.startsWith('@')) body = args[++at];
      else if (argument === '-o' && args[++at] === '/dev/null') discarded = argument;
      else if (argument === '-w')
        written =
          /^%header\{([a-z-]+)\}$/.exec(args[++at]!)?.[1] ??
          expect.fail(`-w ${args[at]} is not understood`);
      else if (/^https?:/.test(argument) && url === undefined) url = argument;
      else if (argument !== '-i') throw new Error(`curl ${argument} is not understood`);
    }
    if (!silent || !method || !url || !status)
      throw new Error(`curl needs -sS, -X, a URL, and the status in a comment: ${args.join(' ')}`);
    if (body !== undefined && !headers.has('content-type'))
      throw new Error(`curl -d without a Content-Type sends a form: ${url}`);
    const response = await fetch(url, { method, headers, body: body ?? null, redirect: 'manual' });
    this.last = { status: response.status, headers: response.headers, body: await response.text() };
    expect(this.last.status, `${method} ${url}: ${this.last.body}`).toBe(status);
    return (
      (discarded ? '' : this.last.body) +
      (written
        ? (response.headers.get(written) ?? expect.fail(`${url} answered no ${written}`))
        : '')
    );
  }
}

// ---- answers under the commands ----

/** Compares a text with the page: variables have their values, and `…` matches anything. */
function matches(shown: string, real: string, shell: Shell): boolean {
  const filled = shown.replace(
    /\$([A-Z_]+)/g,
    (_, name: string) => shell.variables[name] ?? expect.fail(`$${name} has no value`),
  );
  return new RegExp(
    `^${filled
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[\\s\\S]+')}$`,
  ).test(real);
}

/** Checks the part of an answer that the page shows. The page may omit members. */
function compare(shown: unknown, real: unknown, shell: Shell, path = 'body'): void {
  if (typeof shown === 'string' && typeof real === 'string') {
    expect(matches(shown, real, shell), `${path} is ${real}, and the page says ${shown}`).toBe(
      true,
    );
  } else if (
    typeof shown === 'object' &&
    shown !== null &&
    typeof real === 'object' &&
    real !== null
  ) {
    const actual = real as Record<string, unknown>;
    const expected = Object.entries(shown);
    if (Array.isArray(shown)) expect(real, path).toHaveLength(shown.length);
    else if (expected.length === 0) expect(real, path).toEqual({});
    for (const [name, value] of expected) compare(value, actual[name], shell, `${path}.${name}`);
  } else expect(real, path).toEqual(shown);
}

function checkAnswer(language: string, shown: string, shell: Shell): void {
  const real = shell.last ?? expect.fail('the page shows an answer before any command');
  const [head, body] = language === 'http' ? shown.split('\n\n') : ['', shown];
  const [statusLine, ...headers] = head!.split('\n').filter((line) => line !== '');
  if (statusLine !== undefined)
    expect(statusLine).toMatch(new RegExp(`^HTTP/1\\.1 ${real.status} `));
  for (const [name, value] of headers.map(asHeader)) {
    const there = real.headers.get(name) ?? expect.fail(`the answer has no ${name}`);
    expect(matches(value, there, shell), `${name} is ${there}, and the page says ${value}`).toBe(
      true,
    );
  }
  if (body) compare(JSON.parse(body), JSON.parse(real.body), shell);
}

describe('docs/protocol.md §10, replayed', () => {
  const blocks = [
    ...section('## 10 One full exchange by curl').matchAll(
      /^(?:```(\w+)\n([\s\S]*?)^```$|### (.*))/gm,
    ),
  ];
  const shell = new Shell({ SIGNAGE_TOKEN: 'mak_replayedFromTheProtocolPage0' });
  let service: Awaited<ReturnType<typeof serve>>;
  let heading = 'before';
  let commands = 0;

  beforeAll(async () => {
    service = await serve({
      port: 0,
      store: 'memory:',
      adminToken: shell.variables.SIGNAGE_TOKEN!,
    });
    shell.variables.SIGNAGE_URL = service.url;
  });
  afterAll(() => service?.close());

  for (const [, language = '', text = '', title] of blocks) {
    if (title) {
      heading = title;
      commands = 0;
    } else if (language === 'sh') {
      for (const command of parse(text)) {
        it(`${heading}, command ${++commands}${command.status ? `: ${command.status}` : ''}`, () =>
          shell.run(command));
      }
    } else
      it(`${heading}, the answer to command ${commands}`, () => checkAnswer(language, text, shell));
  }

  it('goes through the whole sequence', () => {
    const statuses = blocks
      .flatMap(([, language, text = '']) => (language === 'sh' ? parse(text) : []))
      .map(({ status }) => status);
    expect(statuses.filter(Boolean)).toEqual([
      201, 201, 201, 201, 200, 200, 200, 200, 304, 200, 202, 202, 200, 200, 401, 201,
    ]);
  });
});

describe('the shell of the replay', () => {
  const run = async (text: string, variables = {}) => {
    const shell = new Shell(variables);
    for (const command of parse(text)) await shell.run(command);
    return shell.variables;
  };

  it.each([
    [`A='x y'`, 'x y'],
    [`A=x'"'"'"y`, `x"'y`],
    [`A="$B-\${B}\\"\\$"`, 'b-b"$'],
    ['A=$B', 'b'],
    [`A=\${C:-d}`, 'd'],
    [`A=\${B:-d}`, 'b'],
    [`A=\${B:?say it}`, 'b'],
    [`A=$(echo '{"id":"7"}' \\\n  | jq -r .id)`, '7'],
  ])('%s', async (text, value) => expect((await run(text, { B: 'b' })).A).toBe(value));

  it.each([
    'A=*',
    'ls',
    'A=$C',
    `A=\${C:?say it}`,
    'A=$(echo x',
    'A=$(echo x) y',
    'echo x)',
    'A="x',
    'A=`x`',
    'A="`x`"',
    'A=x > y',
    'A=x; B=y',
    '# hm',
    'A=$S',
    'curl -k http://x/',
    'A=$(echo {} | jq -r .id)',
  ])('refuses %s', async (text) => expect(run(text, { S: 'two words' })).rejects.toThrow());
});

// ---- codes, paths and sections ----

const codes = Object.keys(errorKinds);
const all = Object.values<Operation>(operations);
const rows = page.split('\n').filter((line) => line.startsWith('| '));
const cells = (row: string) =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
const inTicks = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);

describe('docs/protocol.md', () => {
  it('has every error code in the table of §1.4, with its status, and no other', () => {
    const table = section('### 1.4 Errors')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map(cells);
    expect(table.map(([code, status]) => `${code} ${status}`).sort()).toEqual(
      codes
        .map((code) => `\`${code}\` ${errorKinds[code as keyof typeof errorKinds].status}`)
        .sort(),
    );
  });

  it('names only codes that exist', () => {
    const eventTypes = ['playback_error', 'app_started', 'app_stopped'];
    const playbackFailures = ['not_media', 'too_large', 'mixed_content'];
    const known = [...codes, ...eventTypes, ...playbackFailures];
    const words = inTicks(page).filter((word) => /^[a-z]+(_[a-z]+)+$/.test(word));
    expect(words.filter((word) => !known.includes(word))).toEqual([]);
  });

  it('gives each code its status', () => {
    const wrong = [...page.matchAll(/\b([45]\d\d)\s+`([a-z_]+)`/g)].filter(([, status, code]) => {
      return (
        codes.includes(code!) &&
        errorKinds[code as keyof typeof errorKinds].status !== Number(status)
      );
    });
    expect(wrong.map(([text]) => text)).toEqual([]);
  });

  it.each(all.filter(({ path }) => path.startsWith('/v1/')))(
    'has a row for $method $path in §5.3 that matches the table of operations',
    (operation) => {
      const row = section('### 5.3 The endpoints')
        .split('\n')
        .find((line) => line.startsWith(`| \`${operation.method} ${operation.path}\` |`));
      const [, role, takes = '', answers = '', errors = ''] = cells(row ?? '');
      const own = [
        ...(operation.record ? [`${operation.record}_not_found`] : []),
        ...(operation.errors ?? []),
      ];
      expect(role).toBe(`\`${operation.access}\``);
      expect(answers.slice(0, 3)).toBe(String(operation.status));
      expect(takes !== '').toBe(
        Boolean(operation.body) ||
          (operation.query !== undefined && operation.answer !== 'playlistVersions'),
      );
      expect(inTicks(errors)).toEqual(own);
    },
  );

  it.each(all)('mentions $method $path', ({ method, path }) =>
    expect(inTicks(page)).toContain(`${method} ${path}`),
  );

  it('mentions only endpoints that exist', () => {
    const outside = [
      'GET /healthz',
      'GET /readyz',
      'GET /metrics',
      'GET /openapi.json',
      'GET /docs',
      'GET /player',
      'GET /',
    ];
    const known = [...all.map(({ method, path }) => `${method} ${path}`), ...outside];
    const endpoints = inTicks(page).filter((text) => /^(GET|POST|PUT|PATCH|DELETE) \//.test(text));
    expect(endpoints.filter((text) => !known.includes(text))).toEqual([]);
  });

  it('has every section that the code cites', () => {
    const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts'),
    );
    const cited = files.flatMap((file) => [
      ...readFileSync(new URL(`src/${file}`, root), 'utf8').matchAll(/protocol\.md,? §([\d.]*\d)/g),
    ]);
    const missing = cited
      .map((match) => match[1]!)
      .filter((number) => !new RegExp(`^##+ ${number.replaceAll('.', '\\.')} `, 'm').test(page));
    expect(cited.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  it('refers only to existing sections', () => {
    const missing = [...page.matchAll(/§([\d.]*\d)/g)]
      .map((match) => match[1]!)
      .filter((number) => !page.includes(`# ${number} `));
    // RFCs have sections too, but the page cites them whole.
    expect(missing).toEqual([]);
  });

  it('has tables whose rows have as many cells as their headings', () => {
    const ragged = rows.filter(
      (row, at) =>
        at > 0 &&
        page.includes(`${rows[at - 1]}\n${row}\n`) &&
        cells(row).length !== cells(rows[at - 1]!).length,
    );
    expect(ragged).toEqual([]);
  });
});
