// Build step: bundles the command line into few files, because each file takes time to load.
// Runs after tsc, and replaces dist/cli. The toolkit (dist/index.js) stays as tsc wrote it.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { compact } from './bundle-output.js';
import { escapeBeyondAscii } from './escape-beyond-ascii.js';
import { bundledPackageFolders, joinLicences, licenceTexts } from './licence-texts.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = resolve(root, 'src');
const out = resolve(root, 'dist/cli');

/**
 * Packages that every command, or every start of the service, loads, and yaml, which has 70 files.
 * They are bundled with the packages that they need. `zod-openapi` is here because it must use the
 * same copy of zod.
 */
const bundledPackages = [
  '@hono/node-server',
  'commander',
  'hono',
  'ipaddr.js',
  'leven',
  'lowdb',
  'p-limit',
  'prom-client',
  'yaml',
  'zod',
  'zod-openapi',
];

const isFile = (id) => /^[./\\\0]|^[A-Z]:/i.test(id);

/** Built-in modules and all other packages stay imports. */
function isExternal(id, importer = '') {
  if (isBuiltin(id)) return true;
  if (isFile(id) || importer.includes('node_modules')) return false;
  return !bundledPackages.some((name) => id === name || id.startsWith(`${name}/`));
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
    if (!id.startsWith(src) || !code.includes('import.meta.url')) return null;
    const place = relative(out, resolve(root, 'dist', relative(src, id)))
      .replaceAll('\\', '/')
      .replace(/\.ts$/, '.js');
    return {
      code: code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`),
      map: null,
    };
  },
};

/** A plugin that takes the value which an earlier step made of this module. */
const evaluated = {
  name: 'evaluated',
  load: (id) =>
    id === resolve(src, 'client/shapes.ts')
      ? readFileSync(resolve(root, 'dist/client/shapes.js'), 'utf8')
      : null,
};

rmSync(out, { recursive: true });
const bundle = await rolldown({
  cwd: root,
  input: { main: resolve(src, 'cli/main.ts') },
  platform: 'node',
  external: isExternal,
  plugins: [evaluated, places],
});
const { output } = await bundle.generate({
  ...compact,
  // All files in one folder, as `places` expects.
  chunkFileNames: '[name].js',
  // Each group includes what its module imports statically.
  codeSplitting: {
    groups: [
      { name: 'zod', test: /\/node_modules\/zod\//, priority: 3 },
      { name: 'program', test: /\/src\/cli\/main\.ts$/, priority: 2 },
      { name: 'run', test: /\/src\/cli\/program\/run\.ts$/, priority: 1 },
      // Every command loads this group: it has no module that imports zod or yaml.
      {
        name: 'shared',
        test: /\/src\/cli\/(?!content\/(?!publication)|examination\/(?!options)|times\/|input\/(?:source|check)-document\.ts$)/,
        minShareCount: 4,
      },
      // A start of the service needs these of `content`.
      {
        name: 'fields',
        test: /\/src\/domain\/(?:fields|paging|media\/media|playlists\/media-url)\.ts$/,
      },
      // What is put on a wall is examined with zod. Fewer commands read documents, with yaml.
      {
        name: 'content',
        test: /\/src\/cli\/(?:content\/(?!publication|named-files|chosen-by|.*-document)|examination\/(?!options))/,
        minShareCount: 2,
      },
    ],
  },
});
mkdirSync(out);
for (const { fileName, code } of output)
  writeFileSync(join(out, fileName), escapeBeyondAscii(code));

const packages = licenceTexts(bundledPackageFolders(output));
writeFileSync(join(out, 'licenses.txt'), joinLicences(packages));
