// Build step: bundles the command line into few files, because each file takes time to load.
// Runs after tsc, and replaces dist/cli. Of the packages it bundles only commander, which every
// command needs. The toolkit (dist/index.js) stays as tsc wrote it.
import { readFileSync, rmSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const src = resolve(root, 'src');
const out = resolve(root, 'dist/cli');

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
  // Built-in modules and packages.
  external: /^(?:node:|(?!commander$)[a-z@][^:]*$)/,
  plugins: [evaluated, places],
});
await bundle.write({
  dir: out,
  comments: { legal: true, annotation: false, jsdoc: false },
  // All files in one folder, as `places` expects.
  chunkFileNames: '[name].js',
  // Each group includes what its module imports statically.
  codeSplitting: {
    groups: [
      { name: 'program', test: /\/src\/cli\/main\.ts$/, priority: 2 },
      { name: 'command', test: /\/src\/cli\/command\/run\.ts$/, priority: 1 },
      // Every command loads this group: it has no module that imports zod or yaml.
      {
        name: 'shared',
        test: /\/src\/cli\/(?!media\/|.*(?:-document|named-files|chosen-by)\.ts$)/,
        minShareCount: 4,
      },
    ],
  },
});
