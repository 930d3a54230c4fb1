// Last build step: copies the files that tsc leaves out, and bundles the pages and the worker.
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWeb } from './bundle-web.js';
import { bundleWorker } from './bundle-worker.js';

const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const fromSwaggerUi = (file) =>
  fileURLToPath(new URL(file, import.meta.resolve('swagger-ui-dist/package.json')));

// SQL migrations, pages and other files keep their path: src/a/b.sql becomes dist/a/b.sql.
cpSync(fromRoot('src'), fromRoot('dist'), {
  recursive: true,
  filter: (file) => !file.endsWith('.ts') && file !== fromRoot('src/web'),
});
await bundleWeb(fromRoot('dist/web'));
await bundleWorker(fromRoot('dist/examination'));

// The package contains Swagger UI, so that /docs loads nothing from another host.
// Its licence requires that the licence and the notice are distributed with it.
const swaggerUi = {
  'swagger-ui.css': 'swagger-ui.css',
  'swagger-ui-bundle.js': 'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt': 'swagger-ui-bundle.js.LICENSE.txt',
  LICENSE: 'swagger-ui.LICENSE.txt',
  NOTICE: 'swagger-ui.NOTICE.txt',
};
for (const [file, copy] of Object.entries(swaggerUi))
  cpSync(fromSwaggerUi(file), fromRoot(`dist/http/docs/${copy}`));
