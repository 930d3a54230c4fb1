// The fast path and the app choose the same operation for each path (docs/protocol.md §1.3).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Running, serve } from '../../../src/serve.ts';
import { operations } from '../../../src/wire/operations/operations.ts';
import { adminToken, listenWithoutFastPath, sendTo } from '../../support/service/service.ts';

const templates = Object.values(operations).map(({ path }) => path.split('/'));
const literals = new Set(templates.flat().filter((segment) => /^[a-z]/.test(segment)));

/** All paths of device endpoints, with each literal segment of any path as the id. */
const paths = new Set(
  templates
    .filter(([, first]) => first === 'devices')
    .flatMap((segments) =>
      [...literals, 'unknown', '018f4c1e-0000-7000-8000-000000000000'].map((id) =>
        segments.map((segment) => (segment.startsWith(':') ? id : segment)).join('/'),
      ),
    ),
);

let running: Running;
let app: Awaited<ReturnType<typeof listenWithoutFastPath>>;
beforeAll(async () => {
  running = await serve({ port: 0, store: 'memory:', adminToken });
  app = await listenWithoutFastPath(running);
});
afterAll(async () => {
  await app.close();
  await running.close();
});

const outcome = async (url: string, method: string, path: string) => {
  const body = method === 'POST' ? '[]' : undefined;
  const { status, body: problem } = await sendTo(url, method, path, { body });
  return [status, problem?.code];
};

it.each(['GET', 'POST', 'PUT'])(
  '%s has one answer for each path, by either adapter',
  async (method) => {
    expect(paths.size).toBeGreaterThan(100);
    for (const path of paths)
      expect([path, ...(await outcome(running.url, method, path))]).toEqual([
        path,
        ...(await outcome(app.url, method, path)),
      ]);
  },
);
