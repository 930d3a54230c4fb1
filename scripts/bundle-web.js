// Bundles the pages of src/web. The service can serve the files of the web player for a year: their
// names contain a hash of their content. Those of `signage board` have a new address at each start.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { rolldown } from 'rolldown';

const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const fromWeb = (file) => fromRoot(`src/web/${file}`);

/** A warning would be a module of Node in the browser. */
function refuseWarnings(level, { message }) {
  if (level === 'warn') throw new Error(message);
}

/**
 * Turns private members into properties: `#code` becomes `$code`. ES2017 has no private members,
 * and a WeakMap for each of them would add a quarter to the bundle.
 */
const publicMembers = {
  name: 'public-members',
  transform(code, id) {
    if (!id.endsWith('.ts') || !code.includes('#')) return null;
    const starts = [];
    const { program } = parseSync(id, code);
    new Visitor({ PrivateIdentifier: ({ start }) => void starts.push(start) }).visit(program);
    const characters = code.split('');
    for (const start of starts) characters[start] = '$';
    return { code: characters.join(''), map: null };
  },
};

/** The shapes of the responses to TVs, without the schemas of which the build made them. */
async function runtimeShapes() {
  const { shapes } = await import('../dist/client/shapes.js');
  const { runtimeOperations } = await import('../dist/wire/operations/runtime.js');
  const answers = Object.values(runtimeOperations).map(({ answer }) => [answer, shapes[answer]]);
  return `export const shapes = ${JSON.stringify(Object.fromEntries(answers))};`;
}

/** Leaves out what only management needs: a TV never calls it. It is an eighth of the bundle. */
const runtimeOnly = {
  name: 'runtime-only',
  load(id) {
    if (id === fromRoot('src/client/shapes.ts')) return runtimeShapes();
    if (id !== fromRoot('src/wire/operations/operations.ts')) return null;
    return "export { runtimeOperations as operations } from './runtime.ts';";
  },
};

/** Leaves out the asynchronous iterators of idb, 4 KB in ES2017. The player uses none. */
const withoutIterators = {
  name: 'without-iterators',
  load(id) {
    if (!id.endsWith('idb/build/index.js')) return null;
    const code = readFileSync(id, 'utf8');
    const [start, end] = [code.indexOf('\nconst advanceMethodProps'), code.lastIndexOf('\nexport')];
    if (start < 0 || end < start) throw new Error('The iterators of idb were not found.');
    return code.slice(0, start) + code.slice(end);
  },
};

/**
 * Replaces the helpers of the compiler for spreads and rests of objects by short ones, which do the
 * same for objects without symbols and accessors.
 */
const shortHelpers = {
  name: 'short-helpers',
  renderChunk(code) {
    const helpers = {
      _objectSpread2: 'Object.assign',
      _objectWithoutProperties: '_objectWithoutPropertiesLoose',
    };
    let short = code;
    for (const [name, own] of Object.entries(helpers))
      short = short.replace(
        new RegExp(`^\\tfunction ${name}\\(.*?^\\t}$`, 'ms'),
        `\tconst ${name} = ${own};`,
      );
    return short;
  },
};

/** Bundles a module into one classic script. TVs of 2019 have Chromium 63. */
async function bundleScript(entry, define = {}) {
  const bundle = await rolldown({
    cwd: fromRoot(''),
    input: fromWeb(entry),
    platform: 'browser',
    // The target of tsconfig.json would undo the assumption about class fields.
    tsconfig: false,
    plugins: [runtimeOnly, withoutIterators, publicMembers, shortHelpers],
    // package.json says that no module has side effects. The shims have.
    treeshake: { moduleSideEffects: (id) => id === fromWeb('shims.ts') },
    transform: {
      target: 'es2017',
      define,
      assumptions: { setPublicClassFields: true },
      typescript: { removeClassFieldsWithoutInitializer: true },
    },
    onLog: refuseWarnings,
  });
  const { output } = await bundle.generate({ format: 'iife', codeSplitting: false, minify: true });
  return output[0].code;
}

function hashedName(name, content) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return name.replace('.', `.${hash}.`);
}

/** Returns the texts of the web player in a language, as JSON. */
async function textsOf(file) {
  const bundle = await rolldown({ input: fromWeb(`texts/${file}`), tsconfig: false });
  const [{ code }] = (await bundle.generate({ format: 'esm' })).output;
  const { texts } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return JSON.stringify(texts);
}

/** Writes the texts of all languages but English. Returns the names of the files by language. */
async function writeLanguages(folder) {
  const files = {};
  for (const file of readdirSync(fromWeb('texts')).filter((name) => /^[a-z]{2}\.ts$/.test(name))) {
    const content = await textsOf(file);
    const name = file.slice(0, 2);
    files[name] = hashedName(`${name}.json`, content);
    writeFileSync(join(folder, files[name]), content);
  }
  return files;
}

/** Writes the files of `/player#check`, with its clips inside. Returns their names. */
async function writeCheck(folder) {
  const clips = readdirSync(fromWeb('check/clips')).map((file) => [
    parse(file).name,
    readFileSync(fromWeb(`check/clips/${file}`), 'base64'),
  ]);
  const contents = {
    script: [
      'check.js',
      await bundleScript('check/main.ts', { CLIPS: JSON.stringify(Object.fromEntries(clips)) }),
    ],
    style: ['check.css', readFileSync(fromWeb('check/check.css'), 'utf8')],
  };
  return Object.fromEntries(
    Object.entries(contents).map(([kind, [name, content]]) => {
      const hashed = hashedName(name, content);
      writeFileSync(join(folder, hashed), content);
      return [kind, hashed];
    }),
  );
}

/** Writes the files of all pages to a folder. Replaces the folder. */
export async function bundleWeb(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const languages = await writeLanguages(folder);
  const check = await writeCheck(folder);
  const pageFiles = {
    LANGUAGE_FILES: JSON.stringify(languages),
    CHECK_FILES: JSON.stringify(check),
  };
  const contents = {
    'app.js': await bundleScript('main.ts', pageFiles),
    'app.css': readFileSync(fromWeb('app.css'), 'utf8'),
    'engine.js': readFileSync(fromWeb('engine.js'), 'utf8'),
  };
  let page = readFileSync(fromWeb('index.html'), 'utf8');
  const names = [];
  for (const [name, content] of Object.entries(contents)) {
    const hashed = hashedName(name, content);
    names.push(hashed);
    page = page.replace(`"player/${name}"`, `"player/${hashed}"`);
    writeFileSync(join(folder, hashed), content);
  }
  writeFileSync(join(folder, 'index.html'), page);
  const workerFiles = {
    SHELL_FILES: JSON.stringify(names),
    LAZY_FILES: JSON.stringify([...Object.values(languages), ...Object.values(check)]),
  };
  writeFileSync(join(folder, 'sw.js'), await bundleScript('service-worker.ts', workerFiles));
  writeFileSync(join(folder, 'board.js'), await bundleScript('board/main.ts'));
  copyFileSync(fromWeb('board/index.html'), join(folder, 'board.html'));
  copyFileSync(fromWeb('board/board.css'), join(folder, 'board.css'));
  copyFileSync(fromWeb('manifest.webmanifest'), join(folder, 'manifest.webmanifest'));
  cpSync(fromWeb('icons'), folder, { recursive: true });
  copyFileSync(fromRoot('node_modules/idb/LICENSE'), join(folder, 'idb.LICENSE.txt'));
}
