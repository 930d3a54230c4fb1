import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './copy-node.js';

/** The folder of the checkout. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Returns the folders of all packages that an installation has, apart from signage itself. */
export function productionPackages() {
  const list = run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root });
  return list.split('\n').filter((folder) => folder.includes('node_modules'));
}

const isLicence = (file) => /^(licen[cs]e|notice|copying)/i.test(file);

/** Returns the licences of signage, its packages and Node, which copies must contain. */
export function licences(node) {
  const nodeLicence = join(dirname(node), '../LICENSE');
  const folders = [root, ...productionPackages(), join(root, 'node_modules/swagger-ui-dist')];
  const parts = folders.flatMap((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return readdirSync(folder)
      .filter(isLicence)
      .map((file) => `${name} ${version}: ${file}\n\n${readFileSync(join(folder, file), 'utf8')}`);
  });
  const nodeText = existsSync(nodeLicence)
    ? readFileSync(nodeLicence, 'utf8')
    : 'See the LICENSE file of its source code.\n';
  parts.push(`Node.js ${run(node, ['--version'])}\n\n${nodeText}`);
  return parts.join(`\n${'='.repeat(80)}\n\n`);
}
