import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { SignageError } from '../../domain/error.ts';
import { answerStaticFile, readStaticFile } from './static-file.ts';

// Creatives are untrusted code. The sandbox lets scripts run in an origin of their own, and blocks
// all requests.
const creativePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:";

// Players load media from another origin. Demo media are public.
const headers = {
  'Cache-Control': 'public, max-age=3600',
  'Content-Security-Policy': creativePolicy,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/**
 * Serves the files of a folder under `/media/`, without subfolders. Reads them once, when this is
 * called. Requests are matched against the list of file names, so no path can leave the folder.
 */
export function mediaRoutes(folder: string): Hono {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.startsWith('.'),
  );
  const files = new Map(
    entries.map(({ name }) => [name, readStaticFile(join(folder, name), headers)]),
  );
  const app = new Hono();
  app.get('/media/:name', (context) => {
    const file = files.get(context.req.param('name'));
    if (!file) throw new SignageError('not_found', 'There is no such file.');
    return answerStaticFile(context, file);
  });
  return app;
}
