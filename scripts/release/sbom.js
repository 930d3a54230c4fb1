import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageOfText } from '../licence-texts.js';
import { run } from './copy-node.js';
import { builtInTexts, productionPackages, root } from './licences.js';

const packageOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const refOf = ({ name, version }) => `${name}@${version}`;

/** Packages whose code is in the build are no packages of the development only. */
const asShipped = ({ properties = [], ...component }) => ({
  ...component,
  properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
});

/**
 * Returns the bill of materials of the package, in the form of CycloneDX. `npm sbom --omit=dev`
 * leaves out packages that the development needs as well, and those whose code the build contains,
 * so this selects from the list of all. Needs `npm run build`.
 */
export function sbom() {
  const all = JSON.parse(run('npm', ['sbom', '--sbom-format=cyclonedx'], { cwd: root }));
  const own = packageOf(root);
  const refs = new Set([
    ...productionPackages().map((folder) => refOf(packageOf(folder))),
    ...builtInTexts(join(root, 'dist')).map(packageOfText),
  ]);
  const isShipped = (ref) => refs.has(ref);
  const dependencies = all.dependencies
    .filter(({ ref }) => ref === refOf(own) || isShipped(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) }));
  return {
    ...all,
    // npm names the component after the folder of the checkout.
    metadata: { ...all.metadata, component: { ...all.metadata.component, name: own.name } },
    components: all.components.filter((one) => isShipped(one['bom-ref'])).map(asShipped),
    dependencies,
  };
}
