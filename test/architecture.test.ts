// Checks the architecture: allowed imports, and rules of CONTRIBUTING.md about source text.
import { readdirSync, readFileSync } from 'node:fs';
import { posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

/**
 * Maps a folder or file to its allowed imports, besides itself. A deeper entry adds to those above
 * it. Everything else is forbidden.
 */
const mayImport: Record<string, string[]> = {
  package: [],
  domain: [],
  options: ['domain'],
  store: ['domain'],
  wire: ['domain'],
  network: ['domain'],
  calendar: ['domain'],
  faults: ['wire', 'domain'],
  origin: ['domain', 'store/store.ts', 'store/queries.ts'],
  media: ['domain'],
  service: [
    'domain',
    'calendar',
    'store/store.ts',
    'store/queries.ts',
    'origin/origin.ts',
    'media/media-store.ts',
    'media/examination/examiner.ts',
    'media/examination/verdict.ts',
    'network/webhook-sender.ts',
  ],
  http: ['service', 'faults', 'wire', 'network/address-range.ts', 'domain'],
  client: ['wire', 'domain'],
  player: ['client', 'domain'],
  simulator: ['player', 'client', 'faults', 'options', 'domain'],
  conformance: ['client', 'wire', 'options', 'domain'],
  web: ['player', 'client', 'domain'],
  exam: [
    'serve.ts',
    'client',
    'faults',
    'wire',
    'network/listen.ts',
    'network/passed-headers.ts',
    'options',
    'domain',
  ],
  serve: ['http', 'service', 'origin', 'media', 'network', 'store', 'options', 'domain'],
  cli: [
    'serve.ts',
    'serve/serve-options.ts',
    'client',
    'player',
    'simulator',
    'conformance',
    'exam',
    'wire',
    'calendar',
    'media/examination/examiner.ts',
    'media/examination/format.ts',
    'media/examination/file-finding.ts',
    'media/examination/format.ts',
    'media/examination/verdict.ts',
    'network/guarded-lookup.ts',
    'network/listen.ts',
    'network/passed-headers.ts',
    'network/webhook-sender.ts',
    'domain',
    'package',
  ],
  'serve/open-parts.ts': ['faults', 'package/version.ts'],
  'media/examination/examining-thread.ts': ['package/assets.ts'],
  'media/open-media-store.ts': ['origin/object-store'],
  'media/s3-media-store.ts': ['origin/object-store'],
  'store/location': ['options'],
  'store/maintenance': ['media'],
  'store/postgres/migration/migrate.ts': ['package/assets.ts'],
  'service/assembly/demo.ts': ['package/assets.ts'],
  'client/node-requester.ts': ['package/user-agent.ts'],
  'client/undici-requester.ts': ['package/user-agent.ts'],
  'network/webhook-sender.ts': ['package/user-agent.ts'],
  'origin/on-demand/http.ts': ['package/user-agent.ts'],
  'http/docs': ['package/assets.ts'],
  'http/player': ['package/assets.ts'],
  'cli/commands/audit': ['store'],
  'cli/commands/data': ['store'],
  'cli/commands/store.ts': ['store'],
  'serve.ts': ['serve', 'http', 'service', 'store', 'options', 'domain'],
  'index.ts': [
    'serve.ts',
    'serve/serve-options.ts',
    'client',
    'entry/simulator.ts',
    'store',
    'origin/origin.ts',
    'origin/object-store',
    'media/media-store.ts',
    'http/listener/tls.ts',
    'domain',
  ],
  'entry/browser.ts': ['client', 'domain'],
  'entry/client.ts': ['client', 'wire', 'domain'],
  'entry/simulator.ts': ['simulator', 'player'],
  'entry/conformance.ts': ['conformance', 'exam'],
  'entry/testing.ts': ['testing'],
  testing: ['serve.ts', 'serve/serve-options.ts', 'client', 'store', 'options', 'domain'],
};

/**
 * Folders that may import only these packages. `node:zlib` provides a native CRC-32. The player
 * must also run in a browser.
 */
const packagesOf: Record<string, string[]> = {
  domain: ['zod', 'node:crypto', 'node:zlib'],
  player: [],
  web: ['idb'],
};

/**
 * Every command loads these files and their static imports, and a file of commands, which the tree
 * names. They must not load `slowPackages`.
 */
const quickStart = ['cli/main.ts', 'cli/program/run.ts'];
const commandTree = 'cli/tree.ts';
/** The build replaces this module by its value (scripts/shapes.js). */
const evaluated = 'client/shapes.ts';
const slowPackages = [
  'zod',
  'zod-openapi',
  'undici',
  'pg',
  '@inquirer',
  'yaml',
  'jq-wasm',
  'string-width',
  'env-paths',
  'chalk',
  '@modelcontextprotocol',
];

const namesWithoutSubject = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'types'];
const maxLines = 330;
const maxFiles = 20;
const maxWidth = 100;

/** Names that a file must not mention, with the exceptions. */
const bans: { what: string[]; except: string[] }[] = [
  { what: ['console'], except: ['cli/terminal/io.ts'] },
  { what: ['process.env', 'process.argv'], except: ['cli'] },
  { what: ['NODE_ENV', 'VITEST'], except: [] },
  // The service decides by the time of its store.
  {
    what: ['system clock'],
    except: [
      ...['cli', 'client', 'conformance', 'exam', 'player', 'simulator', 'store', 'testing', 'web'],
      'domain/clock.ts',
      'http/listener/listener.ts',
      'index.ts',
      'entry',
      'serve/open-parts.ts',
    ],
  },
  // A call with one argument for each row throws a RangeError for about 120,000 rows.
  { what: ['push(...)', 'Math.max(...)'], except: [] },
  // Code that acts for callers gets `ServiceDependencies`, whose transactions check the credential.
  {
    what: ['SystemDependencies'],
    except: [
      'auth/authority',
      'assembly/bootstrap',
      'context',
      'auth/denials',
      'auth/device-auth',
      'guesses/rate-limit',
      'assembly/housekeeping',
      'logins/logins',
      'media/media-upkeep',
      'auth/management-auth',
      'playlists/on-demand-versions',
      'pairing/claims',
      'pairing/registration',
      'schedules/layer-delivery',
      'schedules/record-switches',
      'assembly/services',
      'statements/sealing',
      'webhooks/settle',
      'webhooks/webhook-dispatcher',
      'webhooks/webhook-worker',
    ].map((subject) => `service/${subject}.ts`),
  },
];

/** How a file mentions these names. Comments and the words of strings do not count. */
const mentionOf: Record<string, RegExp> = {
  console: /(?<![\w.])console\b(?! ?:)/,
  'process.env':
    /\bprocess(?:\.|\['?)env\b|\benv\b[^{}]*\} (?:= process\b|from '(?:node:)?process')/,
  'process.argv':
    /\bprocess(?:\.|\['?)argv\b|\bargv\b[^{}]*\} (?:= process\b|from '(?:node:)?process')/,
  NODE_ENV: /NODE_ENV/,
  'system clock': /\bDate\.now\b|\bnew Date\(\)|\bsystemClock\b/,
  VITEST: /VITEST/,
  'push(...)': /\.(?:push|unshift)\(\.\.\./,
  'Math.max(...)': /\bMath\.(?:max|min)\((?:[^()]|\([^()]*\))*?\.\.\./,
  SystemDependencies: /SystemDependencies/,
};

type Import = { specifier: string; loaded: 'statically' | 'dynamically' | 'never' };
type Source = { path: string; lines: number; imports: Import[]; mentions: Set<string> };

/**
 * Reads one file. `path` is relative to src/. A computed import becomes `import(…)`, with its
 * literal beginning if it has one.
 */
function read(path: string, text: string): Source {
  const { program, errors, comments } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const imports: Import[] = [];
  const fromModule = (source: { value: string } | null, kind: string) => {
    if (source)
      imports.push({ specifier: source.value, loaded: kind === 'type' ? 'never' : 'statically' });
  };
  new Visitor({
    ImportDeclaration: (node) => fromModule(node.source, node.importKind ?? 'value'),
    ExportAllDeclaration: (node) => fromModule(node.source, node.exportKind ?? 'value'),
    ExportNamedDeclaration: (node) => fromModule(node.source, node.exportKind ?? 'value'),
    TSImportType: (node) => fromModule(node.source, 'type'),
    ImportExpression({ source }) {
      const start = source.type === 'TemplateLiteral' ? (source.quasis[0]?.value.cooked ?? '') : '';
      const plain =
        source.type === 'TemplateLiteral' && source.expressions.length === 0 ? start : undefined;
      const specifier =
        source.type === 'Literal' && typeof source.value === 'string'
          ? source.value
          : (plain ?? `import(${start}…)`);
      imports.push({ specifier, loaded: 'dynamically' });
    },
  }).visit(program);
  const code = comments.reduceRight(
    (rest, { start, end }) => rest.slice(0, start) + rest.slice(end),
    text,
  );
  const mentions = new Set(Object.keys(mentionOf).filter((name) => mentionOf[name]?.test(code)));
  return { path, lines: text.replace(/\n$/, '').split('\n').length, imports, mentions };
}

const isIn = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
const isRelative = (specifier: string) => specifier.startsWith('.');
const isComputed = (specifier: string) => specifier.startsWith('import(');
const target = (from: Source, specifier: string) =>
  posix.join(posix.dirname(from.path), specifier).replace(/\.js$/, '.ts');
const targets = (from: Source, wanted = from.imports) =>
  wanted.filter((one) => isRelative(one.specifier)).map((one) => target(from, one.specifier));

function forbiddenImports(sources: Source[]): string[] {
  return sources.flatMap((source) => {
    const folder = Object.keys(mayImport).find((one) => isIn(source.path, one));
    if (!folder) return [`${source.path} is in no folder of the table`];
    const allowed = Object.entries(mayImport).flatMap(([place, others]) =>
      isIn(source.path, place) ? others : [],
    );
    const wrong = targets(source).filter(
      (to) => ![folder, ...allowed].some((place) => isIn(to, place)),
    );
    const computed = source.imports.map((one) => one.specifier).filter((one) => isComputed(one));
    return [...wrong, ...computed].map(
      (to) => `${source.path} -> ${to} (${folder} may import ${allowed.join(', ') || 'nothing'})`,
    );
  });
}

function cycles(sources: Source[]): string[] {
  const graph = new Map(sources.map((source) => [source.path, targets(source)]));
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (done.has(path)) return;
    done.add(path);
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

/** Returns the pairs of folders that import each other, such as `cli/api cli/command`. */
function mutualFolders(sources: Source[]): string[] {
  const imported = new Map<string, Set<string>>();
  for (const source of sources) {
    const folder = posix.dirname(source.path);
    const others = imported.get(folder) ?? new Set();
    for (const to of targets(source)) others.add(posix.dirname(to));
    imported.set(folder, others);
  }
  return [...imported]
    .flatMap(([one, others]) =>
      [...others]
        .filter((other) => one < other && imported.get(other)?.has(one))
        .map((other) => `${one} ${other}`),
    )
    .sort();
}

function foreignPackages(sources: Source[]): string[] {
  return sources.flatMap(({ path, imports }) => {
    const allowed = Object.entries(packagesOf).find(([folder]) => isIn(path, folder))?.[1];
    const packages = imports
      .map((one) => one.specifier)
      .filter((one) => !isRelative(one) && !isComputed(one));
    return allowed
      ? packages
          .filter((one) => !allowed.some((name) => isIn(one, name)))
          .map((one) => `${path} -> ${one}`)
      : [];
  });
}

/** Follows static imports from `roots`. Returns the import chain to each of `slowPackages`. */
function slowStarts(sources: Source[], roots: string[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const seen = new Set([evaluated]);
  const visit = (path: string, trail: string[]): string[] => {
    const source = byPath.get(path);
    if (!source || seen.has(path)) return [];
    seen.add(path);
    const wanted = source.imports.filter((one) => one.loaded === 'statically');
    const slow = wanted
      .map((one) => one.specifier)
      .filter((one) => slowPackages.some((name) => isIn(one, name)));
    const here = [...trail, path];
    return [
      ...slow.map((one) => [...here, one].join(' -> ')),
      ...targets(source, wanted).flatMap((next) => visit(next, here)),
    ];
  };
  const missing = roots.filter((root) => !byPath.has(root)).map((root) => `${root} does not exist`);
  return [...missing, ...roots.flatMap((root) => visit(root, []))];
}

function bannedMentions(sources: Source[], { what, except }: (typeof bans)[number]): string[] {
  const bound = sources.filter((source) => !except.some((place) => isIn(source.path, place)));
  return bound.flatMap((source) =>
    what.filter((one) => source.mentions.has(one)).map((one) => `${source.path}: ${one}`),
  );
}

function namelessFiles(sources: Source[]): string[] {
  const parts = (path: string) => path.replace(/\.ts$/, '').split('/');
  return sources
    .map((source) => source.path)
    .filter((path) => parts(path).some((part) => namesWithoutSubject.includes(part)));
}

const longFiles = (sources: Source[]) =>
  sources
    .filter((source) => source.lines > maxLines)
    .map(({ path, lines }) => `${path}: ${lines} lines`);

function crowdedFolders(paths: string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > maxFiles)
    .map(([folder, count]) => `${folder}: ${count} files`);
}

/**
 * Returns the lines with comments that are too wide. A directive of a tool cannot wrap, and neither
 * can a single word such as a URL.
 */
function wideComments(path: string, text: string): string[] {
  const lines = text.split('\n');
  const wide = new Set<number>();
  let offset = 0;
  let index = 0;
  for (const { start, end } of parseSync(path, text).comments) {
    while (offset + lines[index]!.length < start) offset += lines[index++]!.length + 1;
    const count = text.slice(start, end).split('\n').length;
    for (let at = index; at < index + count; at++) {
      const cannotWrap = /biome-ignore|@ts-|^\s*(\/\/|\*) \S+$/.test(lines[at]!);
      if (lines[at]!.length > maxWidth && !cannotWrap) wide.add(at + 1);
    }
  }
  return [...wide].map((line) => `${path}:${line}`);
}

function filesIn(folder: string): { path: string; text: string }[] {
  const root = fileURLToPath(new URL(`../${folder}`, import.meta.url));
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|js)$/.test(file))
    .map((file) => ({
      path: file.split(sep).join('/'),
      text: readFileSync(`${root}/${file}`, 'utf8'),
    }));
}

describe('src/', () => {
  const sources = filesIn('src').map(({ path, text }) => read(path, text));

  it('has files to check', () => expect(sources).not.toEqual([]));
  it('has only the imports of the table', () => expect(forbiddenImports(sources)).toEqual([]));
  it('has no import cycles', () => expect(cycles(sources)).toEqual([]));
  it('has no two folders that import each other', () => expect(mutualFolders(sources)).toEqual([]));
  it('keeps domain free of packages except zod', () =>
    expect(foreignPackages(sources)).toEqual([]));
  it('starts --help and --version without zod, undici and prompts', () => {
    const tree = sources.filter(({ path }) => path === commandTree);
    const commands = new Set(tree.flatMap((source) => targets(source)));
    expect(commands.size).toBeGreaterThan(20);
    expect(slowStarts(sources, [...quickStart, ...commands])).toEqual([]);
  });
  it('names each file after its subject', () => expect(namelessFiles(sources)).toEqual([]));
  it(`has no file over ${maxLines} lines`, () => expect(longFiles(sources)).toEqual([]));
  it.each(bans)('mentions $what only in $except', (ban) =>
    expect(bannedMentions(sources, ban)).toEqual([]),
  );
});

describe.each(['src', 'test', 'bin', 'scripts'])('%s/', (folder) => {
  it(`has no folder with over ${maxFiles} files`, () =>
    expect(crowdedFolders(filesIn(folder).map(({ path }) => path))).toEqual([]));
  it(`has no comment over ${maxWidth} columns`, () =>
    expect(filesIn(folder).flatMap(({ path, text }) => wideComments(path, text))).toEqual([]));
});

describe('the architecture checks, on sample files', () => {
  const sampleFiles = (files: Record<string, string>) =>
    Object.entries(files).map(([path, text]) => read(path, text));
  const imports = (files: Record<string, string>) =>
    forbiddenImports(sampleFiles(files)).map((line) => line.replace(/ \(.*/, ''));

  it.each([
    ['a static import', `import { app } from '../http/app.ts';`],
    ['an import for its effect', `import '../http/app.ts';`],
    ['a type import', `import type { App } from '../http/app.ts';`],
    ['a type in place', `let app: import('../http/app.ts').App;`],
    ['a dynamic import', `const app = await import('../http/app.ts');`],
    ['a dynamic import of a template', 'const app = import(`../http/app.ts`);'],
    ['an export from', `export { app } from '../http/app.ts';`],
    ['an export of all', `export * from '../http/app.ts';`],
    ['a type export from', `export type { App } from '../http/app.ts';`],
    ['the ending .js', `import { app } from '../http/app.js';`],
    [
      'a quote in a regular expression before it',
      `const quote = /['"\`]/; import '../http/app.ts';`,
    ],
  ])('find a forbidden import in %s', (_, text) => {
    expect(imports({ 'service/playback.ts': text })).toEqual([
      'service/playback.ts -> http/app.ts',
    ]);
  });

  it('find two folders that import each other without a cycle of files', () => {
    const sources = sampleFiles({
      'cli/a/one.ts': `import '../b/one.ts';`,
      'cli/b/one.ts': '',
      'cli/b/two.ts': `import '../a/two.ts';`,
      'cli/a/two.ts': '',
    });
    expect([cycles(sources), mutualFolders(sources)]).toEqual([[], ['cli/a cli/b']]);
  });

  it('name the folder and its allowed imports', () => {
    expect(
      forbiddenImports(sampleFiles({ 'origin/chain.ts': `import '../http/app.ts';` })),
    ).toEqual([
      'origin/chain.ts -> http/app.ts (origin may import domain, store/store.ts, store/queries.ts)',
    ]);
  });

  it('ignore imports in comments and strings', () => {
    expect(
      imports({
        'domain/a.ts': `// import '../http/a.ts'\n/* import '../http/b.ts' */ export const s = "import '../http/c.ts'";`,
      }),
    ).toEqual([]);
  });

  it.each([
    ['service/a.ts', '../store/store.ts', true],
    ['service/a.ts', '../store/json/journal.ts', false],
    ['service/a.ts', '../origin/chain/origins.ts', false],
    ['store/json/a.ts', '../store.ts', true],
    ['domain/a.ts', '../wire/errors.ts', false],
    ['http/a.ts', '../origin/origin.ts', false],
    ['cli/commands/data/data.ts', '../../../store/json/journal.ts', true],
    ['cli/commands/data/data.ts', '../io.ts', true],
    ['cli/commands/device.ts', '../../store/store.ts', false],
    ['serve.ts', './http/app.ts', true],
    ['serve.ts', './cli/main.ts', false],
    ['index.ts', './origin/origin.ts', true],
    ['index.ts', './origin/chain.ts', false],
    ['cli/main.ts', '../index.ts', false],
    ['cli/main.ts', '../../package.json', false],
    ['tools/a.ts', './b.ts', false],
  ])('%s -> %s allowed: %s', (path, specifier, allowed) => {
    expect(imports({ [path]: `import '${specifier}';` }).length).toBe(allowed ? 0 : 1);
  });

  it('refuse a computed import', () => {
    expect(imports({ 'cli/a.ts': `const verb = await import('./commands/' + noun);` })).toEqual([
      'cli/a.ts -> import(…)',
    ]);
  });

  it('find cycles, even of types and dynamic imports', () => {
    const files = {
      'domain/a.ts': `import './b.ts';`,
      'domain/b.ts': `import type {} from './c.ts';`,
      'domain/c.ts': `import('./b.ts');`,
    };
    expect(cycles(sampleFiles(files))).toEqual(['domain/b.ts -> domain/c.ts -> domain/b.ts']);
  });

  it('find a package that domain must not import', () => {
    const files = {
      'domain/a.ts': `import 'zod'; import 'node:zlib'; import 'node:fs';`,
      'wire/a.ts': `import 'node:fs';`,
    };
    expect(foreignPackages(sampleFiles(files))).toEqual(['domain/a.ts -> node:fs']);
  });

  it('find imports that slow the start, but not types and dynamic imports', () => {
    const files = {
      'cli/main.ts': `import './io.ts'; import('undici'); import type { Z } from 'zod';`,
      'cli/io.ts': `import '@inquirer/prompts'; import { type Dispatcher } from 'undici';`,
    };
    expect(slowStarts(sampleFiles(files), ['cli/main.ts', 'cli/program.ts'])).toEqual([
      'cli/program.ts does not exist',
      'cli/main.ts -> cli/io.ts -> @inquirer/prompts',
      // `import { type … }` still loads the module: verbatimModuleSyntax keeps `import {}`.
      'cli/main.ts -> cli/io.ts -> undici',
    ]);
  });

  it.each([
    ['console.log(1);', ['console']],
    ['const logger = { to: console };', ['console']],
    ['const { log } = console;', ['console']],
    ['page.console = { console: 1 };', []],
    ['process.env.HOME;', ['process.env']],
    [`globalThis.process['argv'];`, ['process.argv']],
    ['const { env } = process;', ['process.env']],
    [`import { argv } from 'node:process';`, ['process.argv']],
    [`const test = env['NODE_ENV'];`, ['NODE_ENV']],
    ['const test = env.VITEST;', ['VITEST']],
    ['export function makeVenues({ store }: SystemDependencies) {}', ['SystemDependencies']],
    ['// console.log(process.env.NODE_ENV)', []],
  ])('find the mentions in: %s', (text, mentions) => {
    expect([...read('service/a.ts', text).mentions]).toEqual(mentions);
  });

  it('enforce a ban except for its exceptions', () => {
    const files = { 'cli/io.ts': 'console.log(1);', 'cli/main.ts': 'console.log(1);' };
    expect(
      bannedMentions(sampleFiles(files), { what: ['console'], except: ['cli/io.ts'] }),
    ).toEqual(['cli/main.ts: console']);
  });

  it('find long files and file names without a subject', () => {
    const files = {
      'http/utils/a.ts': '\n'.repeat(maxLines),
      'http/types.ts': '\n'.repeat(maxLines + 1),
      'http/media-types.ts': '',
    };
    expect(longFiles(sampleFiles(files))).toEqual([`http/types.ts: ${maxLines + 1} lines`]);
    expect(namelessFiles(sampleFiles(files))).toEqual(['http/utils/a.ts', 'http/types.ts']);
  });

  it('find folders with too many files, apart from their subfolders', () => {
    const names = Array.from({ length: maxFiles + 1 }, (_, index) => `${index}.ts`);
    expect(crowdedFolders(names.slice(1).map((name) => `http/${name}`))).toEqual([]);
    expect(crowdedFolders([...names.map((name) => `http/${name}`), 'http/a/b.ts'])).toEqual([
      `http: ${maxFiles + 1} files`,
    ]);
  });

  it('find wide comments, but no wide code, directives or URLs', () => {
    const wide = 'x '.repeat(50);
    const url = `https://example.com/${'x'.repeat(100)}`;
    const text = [
      `const a = '${wide}';`,
      `// ${wide}`,
      '/**',
      ` * ${wide}`,
      ' */',
      `const b = 1; // ${wide}`,
      `// biome-ignore lint/a/b: ${wide}`,
      `// ${url}`,
      `const c = '// ${wide}';`,
    ];
    expect(wideComments('a.ts', text.join('\n'))).toEqual(['a.ts:2', 'a.ts:4', 'a.ts:6']);
  });

  it('name the file that cannot be parsed', () =>
    expect(() => read('domain/a.ts', 'const = 1;')).toThrow('domain/a.ts'));
});
