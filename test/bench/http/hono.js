// Plain Hono: one handler for each, no middleware.
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { beServed } from './peer.js';
import {
  authenticate,
  bodyLimit,
  decode,
  isBatch,
  jsonType,
  lineOf,
  openLog,
  readDevices,
  requestIdOf,
} from './same-work.js';

const [folder, , synced] = process.argv.slice(2);
const devices = readDevices(`${folder}/devices.json`);
const log = await openLog(`${folder}/hono-${synced}.ndjson`, synced === 'synced');
const json = { 'Content-Type': 'application/json' };
const app = new Hono();

function send(context, status, headers, body) {
  const requestId = requestIdOf(context.req.header('x-request-id'));
  const always = {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  return new Response(body, { status, headers: { ...headers, ...always } });
}

const deviceOf = (context) =>
  authenticate(devices, context.req.header('authorization'), context.req.param('id'));

function conditional(what) {
  return (context) => {
    const device = deviceOf(context);
    if (!device) return send(context, 401, json, '{"status":401}');
    const { etag, headers, text } = device[what];
    return context.req.header('if-none-match') === etag
      ? send(context, 304, headers, null)
      : send(context, 200, headers, text);
  };
}

app.get('/devices/:id/playlist', conditional('playlist'));
app.get('/devices/:id/config', conditional('config'));
app.post('/devices/:id/events', async (context) => {
  const device = deviceOf(context);
  if (!device) return send(context, 401, json, '{"status":401}');
  if (!(Number(context.req.header('content-length')) <= bodyLimit))
    return send(context, 413, json, '{"status":413}');
  if (!jsonType.test(context.req.header('content-type') ?? ''))
    return send(context, 415, json, '{"status":415}');
  const bytes = new Uint8Array(await context.req.arrayBuffer());
  let events;
  try {
    events = JSON.parse(decode(bytes));
  } catch {
    return send(context, 400, json, '{"status":400}');
  }
  if (!isBatch(events)) return send(context, 400, json, '{"status":400}');
  await log.append(lineOf(device, bytes));
  return send(context, 202, json, `{"received":${events.length}}`);
});

const server = createAdaptorServer({ fetch: app.fetch });
server.listen(0, '127.0.0.1', () =>
  beServed(server.address().port, async () => {
    server.close();
    server.closeAllConnections();
    await log.close();
  }),
);
