// Build step: deletes the modules and declarations in dist/ that the package does not use, such as
// those of which the command line has a copy of its own.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(root, 'dist');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const exported = JSON.stringify(exports).match(/(?<=")\.\/dist\/[^"]+/g);

/** Returns the modules that a file may load. It takes every relative path in quotes for one. */
function namedIn(file) {
  const paths = readFileSync(file, 'utf8').matchAll(/(["'`])(\.{1,2}\/[^"'`\n]+\.[jt]s)\1/g);
  const modules = [...paths].map(([, , path]) => resolve(dirname(file), path));
  if (!file.endsWith('.d.ts')) return modules;
  return modules.map((path) => path.replace(/(\.d)?\.[jt]s$/, '.d.ts'));
}

const used = new Set();
function use(file) {
  if (used.has(file) || !existsSync(file)) return;
  used.add(file);
  namedIn(file).forEach(use);
}

for (const entry of ['dist/cli/main.js', ...exported]) use(resolve(root, entry));
for (const name of readdirSync(dist, { recursive: true })) {
  const file = join(dist, name);
  if (/\.[jt]s(\.map)?$/.test(file) && !used.has(file.replace(/\.map$/, ''))) rmSync(file);
}
