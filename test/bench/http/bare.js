// Bare node:http, written by hand: one line of the log for each batch, with the bytes as received.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  authenticate,
  bodyLimit,
  openLog,
  readDevices,
  reportToParent,
  requestIdOf,
} from './baseline.js';

const [folder] = process.argv.slice(2);
const devices = readDevices(`${folder}/devices.json`);
const log = await openLog(`${folder}/bare.ndjson`);
const path = /^\/devices\/([^/?]+)\/(playlist|config|events)$/;
const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const json = ['Content-Type', 'application/json'];
const eventType = /^[a-z0-9._-]{1,64}$/;
const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const [lineFeed, carriageReturn, space] = [0x0a, 0x0d, 0x20];

/** Bodies are pure ASCII. As Latin-1 text, Node sends them in one piece with the head. */
function send(response, status, names, body, requestId) {
  const all = [...names, 'X-Request-Id', requestId];
  all.push('X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer');
  all.push('Content-Security-Policy', 'sandbox');
  if (body !== undefined) all.push('Content-Length', body.length);
  response.writeHead(status, all);
  response.end(body, 'latin1');
}

const sendError = (response, status, requestId) =>
  send(response, status, json, `{"status":${status}}`, requestId);

function readBody(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

function isEvent(event) {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return false;
  const { type, timestamp, playlistId, creativeId, campaignId, duration } = event;
  if (typeof type !== 'string' || !eventType.test(type)) return false;
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) return false;
  const isImpression = type === 'impression';
  for (const id of [playlistId, creativeId, campaignId]) {
    if (id === undefined || id === null) {
      if (isImpression) return false;
    } else if (typeof id !== 'string' || !guid.test(id)) return false;
  }
  return (
    !isImpression ||
    duration === undefined ||
    duration === null ||
    (Number.isFinite(duration) && duration >= 0)
  );
}

const isBatch = (events) =>
  Array.isArray(events) && events.length >= 1 && events.length <= 100 && events.every(isEvent);

/** Line breaks in valid JSON are white space. */
function withoutLineBreaks(bytes) {
  if (!bytes.includes(lineFeed) && !bytes.includes(carriageReturn)) return bytes;
  return bytes.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte));
}

function lineOf({ deviceId, screenId }, bytes) {
  const head = JSON.stringify({ id: randomUUID(), receivedAt: Date.now(), deviceId, screenId });
  const start = Buffer.from(`${head.slice(0, -1)},"events":`);
  return [start, withoutLineBreaks(bytes), Buffer.from('}\n')];
}

async function acceptEvents(request, response, device, requestId) {
  if (!(Number(request.headers['content-length']) <= bodyLimit))
    return sendError(response, 413, requestId);
  if (!jsonType.test(request.headers['content-type'] ?? ''))
    return sendError(response, 415, requestId);
  const bytes = await readBody(request);
  let events;
  try {
    events = JSON.parse(utf8.decode(bytes));
  } catch {
    return sendError(response, 400, requestId);
  }
  if (!isBatch(events)) return sendError(response, 400, requestId);
  await log.append(lineOf(device, bytes));
  send(response, 202, json, `{"received":${events.length}}`, requestId);
}

const server = createServer((request, response) => {
  const requestId = requestIdOf(request.headers['x-request-id']);
  const [, id, resource] = path.exec(request.url) ?? [];
  if (id === undefined) return sendError(response, 404, requestId);
  if (request.method !== (resource === 'events' ? 'POST' : 'GET'))
    return sendError(response, 405, requestId);
  const device = authenticate(devices, request.headers.authorization, id);
  if (!device) return sendError(response, 401, requestId);
  if (resource === 'events') {
    acceptEvents(request, response, device, requestId).catch(() =>
      sendError(response, 503, requestId),
    );
    return;
  }
  const { etag, names, text } = device[resource];
  const isUnchanged = request.headers['if-none-match'] === etag;
  if (isUnchanged) send(response, 304, names, undefined, requestId);
  else send(response, 200, names, text, requestId);
});
server.listen(0, '127.0.0.1', () => reportToParent(server, log));
