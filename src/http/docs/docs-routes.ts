import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { answerStaticFile, readStaticFile, type StaticFile } from '../handlers/static-file.ts';

// Swagger UI draws its icons as data: images; styles it sets by script alone, which a policy does not bind. All else is ours.
const policy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const headers = {
  'Content-Security-Policy': policy,
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
};

const names = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js'];

/** All paths of the page: each takes GET alone. */
export const docsPaths = ['/docs', '/docs/', ...names.map((name) => `/docs/${name}`)];

/** A file of the page: it lies beside this module, but for Swagger UI's own, which only the build puts there. */
function locate(name: string): string {
  const beside = fileURLToPath(new URL(name, import.meta.url));
  return existsSync(beside)
    ? beside
    : createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
}

/** Reads each file when it is first asked for: most services never show the page. */
function lazily(name: string): () => StaticFile {
  let file: StaticFile | undefined;
  return () => {
    file ??= readStaticFile(locate(name), headers);
    return file;
  };
}

/** The reference page `/docs`, and what it loads under `/docs/`. It shows `/openapi.json`, and asks no other host for anything. */
export function docsRoutes(): Hono {
  const app = new Hono();
  const page = lazily('index.html');
  app.get('/docs', (context) => answerStaticFile(context, page()));
  app.get('/docs/', (context) => context.redirect('../docs', 301));
  for (const name of names) {
    const file = lazily(name);
    app.get(`/docs/${name}`, (context) => answerStaticFile(context, file()));
  }
  return app;
}
