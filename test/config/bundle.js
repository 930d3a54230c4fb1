// A step of the build: puts the command line into few files, for each that Node has to load takes time. Comes after tsc, and replaces dist/cli:
//   at-once.cjs     tells version, help and completion scripts; CommonJS, which Node runs sooner than modules
//   commands.json   what the commands say of themselves, for help
//   main.js         all the rest; it loads program.js, which holds what every command needs, and of the other files those that this one needs
// Packages stay outside. What the toolkit exports (dist/index.js) is as tsc wrote it.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const src = resolve(root, 'src');
const out = resolve(root, 'dist/cli');
const slashes = (path) => path.split(sep).join('/');

/** Packages, and what is Node's own. */
const external = /^(?:node:|[a-z@][^:]*$)/;

/** Whether a module is what `entry` imports statically, at any distance: whoever loads that needs it. */
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

/** Puts other code into the place of one of our files. */
function replaced(file, code) {
  return {
    name: 'replaced',
    load: (id) => (id === resolve(src, file) ? { code, moduleType: 'js' } : null),
  };
}

/** What stands beside a file stands beside what tsc made of it, not beside the bundle. */
const places = {
  name: 'places',
  transform(code, id) {
    if (/import\.meta\.(?:dirname|filename)/.test(code))
      throw new Error(`${id}: say import.meta.url, for that can be kept in a bundle.`);
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

/** Every command by its words: `['venue', 'list']`. */
const commands = readdirSync(resolve(src, 'cli/commands'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => slashes(file).replace(/\.ts$/, '').split('/'));

/** `command/load.ts` works out which file to import; a bundle wants to be told all that there may be. */
function commandLoader() {
  const entries = commands.map(
    (path) => `'${path.join(' ')}': () => import('../commands/${path.join('/')}.ts')`,
  );
  return `const files = {${entries.join(',\n')}};
    export const loadCommand = async (path) => (await files[path.filter(Boolean).join(' ')]()).command;`;
}

/** `commands/venue/list.ts` becomes `venue-list.js`. All files stand in one folder: `places` counts on that. */
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
await bundle({ 'at-once': resolve(src, 'cli/command/fast-path.ts') }, [writtenTree], {
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
