import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { SignageError } from '../../domain/error.ts';
import { answerStaticFile, readStaticFile } from './static-file.ts';

// A creative is other people's code: sandboxed, its scripts run, but as of an origin of their own, and may load nothing from anywhere.
const creativePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:";

// Players show and fetch media from an origin of their own; demo media are no secret.
const headers = {
  'Cache-Control': 'public, max-age=3600',
  'Content-Security-Policy': creativePolicy,
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/**
 * Serves the files of a folder (not of folders in it) under `/media/`, as they are when this is called.
 * What is served is looked up by name among them, so that no spelling of a path leads out of the folder.
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
