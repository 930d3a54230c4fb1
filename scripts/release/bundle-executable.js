// Bundles the command line with all packages into one CommonJS file, which is what Node's single
// executable application runs. Such a file can load built-in modules only.
import { writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { oneFile, refuseUnresolved } from '../bundle-output.js';
import { escapeBeyondAscii } from '../escape-beyond-ascii.js';
import { bundledPackageFolders } from '../licence-texts.js';

const fromRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const replacements = new Map([
  // The bundle is made from the sources.
  ['../dist/cli/main.js', fromRoot('src/cli/main.ts')],
  // Has its WebAssembly in the code instead of beside it.
  ['jq-wasm', fromRoot('node_modules/jq-wasm/dist/inline.cjs')],
]);

const replace = {
  name: 'replace',
  resolveId(specifier) {
    if (specifier.endsWith('/assets.ts')) return fromRoot('scripts/release/assets-in-memory.ts');
    return replacements.get(specifier) ?? null;
  },
};

const builtinPrefix = '\0builtin:';

/** Loads built-in modules when they are used. Otherwise the bundle would load all at its start. */
const lazyBuiltins = {
  name: 'lazy-builtins',
  resolveId(specifier, _importer, { kind }) {
    if (kind === 'require-call' || !isBuiltin(specifier)) return null;
    return builtinPrefix + specifier;
  },
  load(id) {
    if (!id.startsWith(builtinPrefix)) return null;
    const specifier = id.slice(builtinPrefix.length);
    return { code: `module.exports = require('${specifier}');`, moduleType: 'js' };
  },
};

/**
 * Writes the bundle to `file`. Throws if it would load something that is not built in. Returns the
 * folders of the packages in it.
 */
export async function bundleExecutable(file) {
  const bundle = await rolldown({
    cwd: fromRoot(''),
    input: fromRoot('bin/signage.js'),
    platform: 'node',
    // An optional native driver, which the service does not use.
    external: ['pg-native'],
    plugins: [replace, lazyBuiltins],
    onLog: refuseUnresolved,
  });
  const { output } = await bundle.generate({
    ...oneFile,
    // Executables of some versions cannot import() from cached code.
    dynamicImportInCjs: false,
  });
  writeFileSync(file, escapeBeyondAscii(output[0].code));
  return bundledPackageFolders(output);
}
