import { Hono } from 'hono';
import { readAsset } from '../../package/assets.ts';
import { answerStaticFile, makeStaticFile, type StaticFile } from '../handlers/static-file.ts';

// Swagger UI uses `data:` images. It sets styles only by script, which the policy allows. All other
// files come from this service.
const policy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const headers = {
  'Content-Security-Policy': policy,
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
};

const names = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js'];

/** All paths of the docs page. Each allows GET only. */
export const docsPaths = ['/docs', '/docs/', ...names.map((name) => `/docs/${name}`)];

/**
 * Returns a function that reads the file at its first call, because most services never show the
 * page.
 */
function lazily(name: string, compression: boolean): () => StaticFile {
  let file: StaticFile | undefined;
  return () => {
    file ??= makeStaticFile(name, readAsset('docs', name), { headers, compression });
    return file;
  };
}

/**
 * Routes of the reference page `/docs` and its files under `/docs/`. `/` redirects clients that
 * accept HTML to the page, and is 404 for all others. The page shows `/openapi.json` and makes no
 * requests to other hosts.
 *
 * @param compression whether clients get compressed files
 */
export function docsRoutes(compression: boolean): Hono {
  const app = new Hono();
  const page = lazily('index.html', compression);
  app.get('/', (context, next) => {
    if (!context.req.header('accept')?.includes('text/html')) return next();
    context.header('Vary', 'Accept');
    return Promise.resolve(context.redirect('docs', 302));
  });
  app.get('/docs', (context) => answerStaticFile(context, page()));
  app.get('/docs/', (context) => context.redirect('../docs', 301));
  for (const name of names) {
    const file = lazily(name, compression);
    app.get(`/docs/${name}`, (context) => answerStaticFile(context, file()));
  }
  return app;
}
