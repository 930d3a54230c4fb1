// Collects what a release consists of: npm run release [-- --out FOLDER]
// Default: release/, whose executable and archive it takes along. Run `npm run build` first.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from './copy-node.js';
import { root } from './licences.js';
import { sbom } from './sbom.js';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = resolve(values.out ?? join(root, 'release'));
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const inRoot = { cwd: root };

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
const write = (file, text) => writeFileSync(join(out, file), text);
const writeJson = (file, value) => write(file, `${JSON.stringify(value, null, 2)}\n`);

/** Returns the section of this version, or the unreleased changes before it is named. */
function changes() {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m);
  const section = (title) => sections.find((one) => one.startsWith(`## ${title}`));
  const released = section(`${version} `) ?? section(`[${version}]`);
  if (!released) console.error(`CHANGELOG.md has no section ${version}: taking "Unreleased".`);
  return released ?? section('Unreleased');
}

/**
 * Returns from what and with what the tarball was made, so that others can repeat it. The
 * executable and the archive are made before, perhaps on other machines.
 */
function provenance() {
  const changed = run('git', ['status', '--porcelain'], inRoot);
  if (changed) console.error(`The checkout has changes that are not committed:\n${changed}`);
  return {
    package: name,
    version,
    commit: run('git', ['rev-parse', 'HEAD'], inRoot),
    hasUncommittedChanges: changed !== '',
    lockFileSha256: sha256(join(root, 'package-lock.json')),
    node: process.version,
    npm: run('npm', ['--version'], inRoot),
    platform: `${process.platform}-${process.arch}`,
    builtAt: new Date().toISOString(),
    commands: ['npm ci', 'npm run release'],
    files: [`${name}-${version}.tgz`],
  };
}

/** Returns a line for each file, in the form that `sha256sum --check` reads. */
function checksums(files) {
  return files.map((file) => `${sha256(join(out, file))}  ${file}\n`).join('');
}

mkdirSync(out, { recursive: true });
run('npm', ['pack', '--ignore-scripts', '--pack-destination', out], inRoot);
writeJson('sbom.cdx.json', sbom());
write('CHANGES.md', changes());
writeJson('provenance.json', provenance());
const files = readdirSync(out).filter((file) => file !== 'SHA256SUMS');
write('SHA256SUMS', checksums(files.sort()));
console.log(files.map((file) => join(out, file)).join('\n'));
