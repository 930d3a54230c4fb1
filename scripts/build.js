// Builds dist/: `npm run build`. Does nothing if nothing changed since the last complete build.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Its modification time is the start of the last complete build. */
const stamp = 'dist/.built';

const steps = [
  'node_modules/typescript/bin/tsc',
  'scripts/shapes.js',
  'scripts/bundle.js',
  'scripts/prune.js',
  'scripts/hover-docs.js',
  'scripts/copy-assets.js',
];

/** The folders too, because their time tells that a file was deleted. */
function* inputs() {
  yield* [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'src',
    'scripts/bundle-output.js',
    'scripts/bundle-web.js',
    'scripts/bundle-worker.js',
    'scripts/escape-beyond-ascii.js',
    'scripts/licence-texts.js',
    ...steps,
  ];
  for (const name of readdirSync('src', { recursive: true })) yield `src/${name}`;
}

function isBuilt() {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  return built !== undefined && [...inputs()].every((path) => statSync(path).mtimeMs < built);
}

function build() {
  const start = new Date();
  rmSync('dist', { recursive: true, force: true });
  for (const step of steps) {
    const { status } = spawnSync(process.execPath, [step], { stdio: 'inherit' });
    if (status !== 0) {
      process.exitCode = 1;
      return;
    }
  }
  writeFileSync(stamp, '');
  utimesSync(stamp, start, start);
}

if (!isBuilt()) build();
