import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { joinLicences, licenceTexts } from '../licence-texts.js';
import { run } from './copy-node.js';

/** The folder of the checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the folders of all packages that an installation has, apart from signage itself. */
export function productionPackages() {
  const list = run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root });
  return list.split('\n').filter((folder) => folder.includes('node_modules'));
}

/**
 * Returns the licences of signage, its packages and Node, which copies must contain. Only the
 * builds of nodejs.org have the licence of Node beside them. For others, prints a warning.
 */
export function licences(node) {
  const nodeLicence = join(dirname(realpathSync(node)), '../LICENSE');
  const bundled = ['swagger-ui-dist', 'idb'].map((name) => join(root, 'node_modules', name));
  const texts = licenceTexts([root, ...productionPackages(), ...bundled]);
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
