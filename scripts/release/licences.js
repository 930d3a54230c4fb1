import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { joinLicences, licenceTexts, splitLicences } from '../licence-texts.js';
import { run } from './copy-node.js';

/** The folder of the checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the folders of all packages that an installation has, apart from signage itself. */
export function productionPackages() {
  const list = run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root });
  return list.split('\n').filter((folder) => folder.includes('node_modules'));
}

/** Folders of packages with files that the build copies, or bundles for browsers. */
const copied = ['swagger-ui-dist', 'idb'].map((name) => join(root, 'node_modules', name));

/** Returns the licences of packages whose code or files a build has. `folder` is its folder. */
export function builtInTexts(folder) {
  const joined = ['cli', 'examination']
    .map((part) => join(folder, part, 'licenses.txt'))
    .filter(existsSync)
    .map((file) => readFileSync(file, 'utf8'));
  return [...joined.flatMap(splitLicences), ...licenceTexts(copied)];
}

/**
 * Returns the licences of signage, its packages and Node, which copies must contain. `builtIn` has
 * the texts of packages that are in the build and are not installed with it. Only the builds of
 * nodejs.org have the licence of Node beside them. For others, prints a warning.
 */
export function licences(node, builtIn) {
  const nodeLicence = join(dirname(realpathSync(node)), '../LICENSE');
  const texts = [...new Set([...licenceTexts([root, ...productionPackages()]), ...builtIn])];
  const hasLicence = existsSync(nodeLicence);
  if (!hasLicence)
    console.error(
      `There is no ${nodeLicence}, so the licence of Node.js is missing. To publish the result, build with a Node.js of nodejs.org (--node PATH).`,
    );
  const nodeText = hasLicence
    ? readFileSync(nodeLicence, 'utf8')
    : 'See the LICENSE file of its source code.\n';
  texts.push(`Node.js ${run(node, ['--version'])}\n\n${nodeText}`);
  return joinLicences(texts);
}
