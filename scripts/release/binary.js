// Builds a self-contained executable of signage for this platform, with Node inside:
//   npm run binary [-- --node PATH] [--out FILE]
// Default: the Node that runs this, and release/signage. Needs Node 22 or newer.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleWeb } from '../bundle-web.js';
import { bundleWorker } from '../bundle-worker.js';
import { licenceTexts } from '../licence-texts.js';
import { bundleExecutable } from './bundle-executable.js';
import { copyNode, replaceFile, run } from './copy-node.js';
import { builtInTexts, licences } from './licences.js';

const minMajor = 22;
const postject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
const fromRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const fromSwaggerUi = (file) => fromRoot(`node_modules/swagger-ui-dist/${file}`);

const filesIn = (folder) =>
  readdirSync(fromRoot(folder))
    .sort()
    .map((name) => fromRoot(`${folder}/${name}`));

/**
 * Returns the files in each folder of `src/package/assets.ts`, of which `built` has the bundled
 * ones.
 */
const assetsOf = (built) => ({
  package: [fromRoot('package.json')],
  fixtures: [fromRoot('fixtures/demo.json')],
  devices: filesIn('fixtures/devices'),
  media: filesIn('fixtures/media'),
  playlists: filesIn('fixtures/playlists'),
  scenarios: filesIn('fixtures/scenarios'),
  docs: [
    ...filesIn('src/http/docs').filter((file) => !file.endsWith('.ts')),
    fromSwaggerUi('swagger-ui.css'),
    fromSwaggerUi('swagger-ui-bundle.js'),
  ],
  schema: filesIn('src/store/postgres/schema'),
  completion: filesIn('src/cli/commands/completion/scripts'),
  web: readdirSync(join(built, 'web')).map((name) => join(built, 'web', name)),
  examination: [join(built, 'examination/worker.cjs')],
});

/**
 * Makes what Node runs: the bundle, its compiled code, and the assets. Returns its file, and the
 * licences of the packages in it.
 */
async function prepareBlob(node, folder) {
  const main = join(folder, 'signage.cjs');
  const output = join(folder, 'signage.blob');
  const names = join(folder, 'names.json');
  const packages = await bundleExecutable(main);
  await bundleWeb(join(folder, 'web'));
  await bundleWorker(join(folder, 'examination'));
  const assets = assetsOf(folder);
  const namesIn = Object.entries(assets).map(([key, files]) => [
    key,
    files.map((f) => basename(f)),
  ]);
  writeFileSync(names, JSON.stringify(Object.fromEntries(namesIn)));
  const files = Object.entries(assets).flatMap(([key, all]) =>
    all.map((file) => [`${key}/${basename(file)}`, file]),
  );
  const config = {
    main,
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets: { 'names.json': names, ...Object.fromEntries(files) },
  };
  writeFileSync(join(folder, 'sea.json'), JSON.stringify(config));
  run(node, ['--experimental-sea-config', join(folder, 'sea.json')]);
  return { blob: output, builtIn: [...licenceTexts(packages), ...builtInTexts(folder)] };
}

async function build(node, out) {
  const folder = mkdtempSync(join(tmpdir(), 'signage-binary-'));
  const isMac = process.platform === 'darwin';
  try {
    const { blob, builtIn } = await prepareBlob(node, folder);
    const executable = join(folder, 'signage');
    copyNode(node, executable);
    if (isMac) run('codesign', ['--remove-signature', executable]);
    // In a process of its own, whose warnings are shown only if it fails.
    const target = [executable, 'NODE_SEA_BLOB', blob];
    const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
    const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : [];
    run(process.execPath, [postject, ...target, '--sentinel-fuse', fuse, ...segment]);
    if (isMac) run('codesign', ['--sign', '-', executable]);
    replaceFile(executable, out);
    writeFileSync(`${out}.licenses.txt`, licences(node, builtIn));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { values } = parseArgs({ options: { node: { type: 'string' }, out: { type: 'string' } } });
const node = resolve(values.node ?? process.execPath);
const ending = process.platform === 'win32' ? '.exe' : '';
const out = resolve(values.out ?? fromRoot(`release/signage${ending}`));
const version = run(node, ['--version']);
if (Number(/^v(\d+)/.exec(version)?.[1]) < minMajor) {
  console.error(
    `The executable needs Node ${minMajor} or newer, and ${node} is ${version}. Run this with a newer Node, or name one: npm run binary -- --node PATH. An archive with Node inside can be made with any: npm run portable.`,
  );
  process.exitCode = 1;
} else {
  await build(node, out);
  console.log(`${out}: ${(statSync(out).size / 1e6).toFixed(1)} MB, Node ${version}`);
}
