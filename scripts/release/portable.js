// Makes an archive of signage with Node and all packages, for this platform:
//   npm run portable [-- --node PATH] [--out FILE]
// Default: the Node that runs this, and release/signage-<version>-<platform>-<arch>.tar.gz.
// Run `npm run build` first.
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { copyNode, replaceFile, run } from './copy-node.js';
import { builtInTexts, licences, productionPackages, root } from './licences.js';

/** Copies the files that `npm pack` would pack, and the packages that they need. */
function copyPackage(to) {
  const [pack] = JSON.parse(
    run('npm', ['pack', '--ignore-scripts', '--dry-run', '--json'], { cwd: root }),
  );
  for (const { path } of pack.files) cpSync(join(root, path), join(to, path));
  for (const folder of productionPackages()) {
    // A package inside another one is an entry of its own.
    const isOwn = (file) => !relative(folder, file).split(sep).includes('node_modules');
    cpSync(folder, join(to, relative(root, folder)), { recursive: true, filter: isOwn });
  }
}

function makeArchive(node, name, out) {
  const place = mkdtempSync(join(tmpdir(), 'signage-portable-'));
  const folder = join(place, name);
  try {
    copyNode(node, join(folder, 'bin/node'));
    copyPackage(join(folder, 'package'));
    cpSync(join(root, 'scripts/release/launcher.sh'), join(folder, 'signage'));
    writeFileSync(join(folder, 'licenses.txt'), licences(node, builtInTexts(join(root, 'dist'))));
    const archive = join(place, 'archive.tar.gz');
    run('tar', ['-czf', archive, '-C', place, name]);
    replaceFile(archive, out);
  } finally {
    rmSync(place, { recursive: true });
  }
}

const { values } = parseArgs({ options: { node: { type: 'string' }, out: { type: 'string' } } });
const node = resolve(values.node ?? process.execPath);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const platform = run(node, ['-p', 'process.platform + "-" + process.arch']);
const name = `signage-${version}-${platform}`;
const out = resolve(values.out ?? join(root, `release/${name}.tar.gz`));
makeArchive(node, name, out);
console.log(
  `${out}: ${(statSync(out).size / 1e6).toFixed(1)} MB, Node ${run(node, ['--version'])}`,
);
