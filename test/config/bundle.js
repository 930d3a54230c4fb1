// Build step: bundles the command line into few files, because each file takes time to load.
// Runs after tsc, and replaces dist/cli:
//   fast-path.cjs   prints version, help and completion scripts; CommonJS, which starts faster
//   commands.json   the descriptions of the commands, for help
//   main.js         runs commands; loads program.js, the code that every command needs, and the
//                   files of the one command
// Packages are not bundled. The toolkit (dist/index.js) stays as tsc wrote it.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const src = resolve(root, 'src');
const out = resolve(root, 'dist/cli');
const slashes = (path) => path.split(sep).join('/');

/** Matches packages and built-in modules. */
const external = /^(?:node:|[a-z@][^:]*$)/;

/** Tells whether `entry` imports a module statically, directly or indirectly. */
function neededBy(entry) {
  const imports = new Map();
  const needed = new Set();
  const add = (id) => {
    if (needed.has(id)) return;
    needed.add(id);
    for (const next of imports.get(id) ?? []) add(next);
  };
  return {
    plugin: {
      name: 'needed-by',
      moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds),
    },
    has(id) {
      if (needed.size === 0) add(entry);
      return needed.has(id);
    },
  };
}

/** A plugin that replaces the code of one source file. */
function replaced(file, code) {
  return {
    name: 'replaced',
    load: (id) => (id === resolve(src, file) ? { code, moduleType: 'js' } : null),
  };
}

/**
 * A plugin that keeps `import.meta.url` as tsc has it: other files lie beside that, not beside the
 * bundle.
 */
const places = {
  name: 'places',
  transform(code, id) {
    if (/import\.meta\.(?:dirname|filename)/.test(code))
      throw new Error(`${id}: use import.meta.url, the only form that this bundle keeps.`);
    if (!code.includes('import.meta.url')) return null;
    const place = slashes(relative(out, resolve(root, 'dist', relative(src, id)))).replace(
      /\.ts$/,
      '.js',
    );
    return {
      code: code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`),
      map: null,
    };
  },
};

/** The words of every command: `['venue', 'list']`. */
const commands = readdirSync(resolve(src, 'cli/commands'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => slashes(file).replace(/\.ts$/, '').split('/'));

/** Code for `command/load.ts` that names each file. The bundler cannot follow a computed import. */
function commandLoader() {
  const entries = commands.map(
    (path) => `'${path.join(' ')}': () => import('../commands/${path.join('/')}.ts')`,
  );
  return `const files = {${entries.join(',\n')}};
    export const loadCommand = async (path) => (await files[path.filter(Boolean).join(' ')]()).command;`;
}

/**
 * `commands/venue/list.ts` becomes `venue-list.js`. `places` relies on all files being in one
 * folder.
 */
function chunkName({ facadeModuleId, name }) {
  const [, command] = slashes(facadeModuleId ?? '').split('/cli/commands/');
  return `${command ? command.replace(/\.ts$/, '').replace('/', '-') : name}.js`;
}

async function bundle(input, plugins, output) {
  const made = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external,
    plugins: [places, ...plugins],
  });
  await made.write({ dir: out, sourcemap: true, ...output });
}

const [{ tree }, { loadCommand }] = await Promise.all([
  import('../../dist/cli/command/tree.js'),
  import('../../dist/cli/command/load.js'),
]);
const described = await Promise.all(
  commands.map(async (path) => [path.join(' '), await loadCommand(path)]),
);
rmSync(out, { recursive: true });

const writtenTree = replaced('cli/command/tree.ts', `export const tree = ${JSON.stringify(tree)};`);
await bundle({ 'fast-path': resolve(src, 'cli/command/fast-path.ts') }, [writtenTree], {
  format: 'cjs',
  entryFileNames: '[name].cjs',
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
});
writeFileSync(resolve(out, 'commands.json'), JSON.stringify(Object.fromEntries(described)));

const entry = resolve(src, 'cli/main.ts');
const always = neededBy(entry);
await bundle({ main: entry }, [replaced('cli/command/load.ts', commandLoader()), always.plugin], {
  chunkFileNames: chunkName,
  codeSplitting: {
    groups: [
      { name: 'program', test: always.has },
      { name: 'shared', test: /\/src\/cli\//, minShareCount: 4 },
    ],
  },
});
