import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './copy-node.js';
import { productionPackages, root } from './licences.js';

const packageOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const refOf = ({ name, version }) => `${name}@${version}`;

/**
 * Returns the bill of materials of the package, in the form of CycloneDX. `npm sbom --omit=dev`
 * leaves out packages that the development needs as well, so this selects from the list of all.
 */
export function sbom() {
  const all = JSON.parse(run('npm', ['sbom', '--sbom-format=cyclonedx'], { cwd: root }));
  const own = packageOf(root);
  // The package has a copy of the files of Swagger UI.
  const shipped = [...productionPackages(), join(root, 'node_modules/swagger-ui-dist')];
  const refs = new Set(shipped.map((folder) => refOf(packageOf(folder))));
  const isShipped = (ref) => refs.has(ref);
  const dependencies = all.dependencies
    .filter(({ ref }) => ref === refOf(own) || isShipped(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) }));
  return {
    ...all,
    // npm names the component after the folder of the checkout.
    metadata: { ...all.metadata, component: { ...all.metadata.component, name: own.name } },
    components: all.components.filter((one) => isShipped(one['bom-ref'])),
    dependencies,
  };
}
