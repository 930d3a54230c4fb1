// Bare node:http, by hand: three tries at it, of which the fastest is the one to compare with.
import { createServer } from 'node:http';
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

const [folder, variant, synced] = process.argv.slice(2);
const devices = readDevices(`${folder}/devices.json`);
const log = await openLog(`${folder}/bare-${variant}-${synced}.ndjson`, synced === 'synced');
const path = /^\/devices\/([^/?]+)\/(playlist|config|events)$/;

/** `writeHead` with one array of names and values, and the body as bytes. */
function sendFlat(response, status, names, body, requestId) {
  const always = [
    'X-Request-Id',
    requestId,
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    'no-referrer',
  ];
  response.writeHead(
    status,
    body === undefined
      ? [...names, ...always]
      : [...names, 'Content-Length', body.length, ...always],
  );
  response.end(body);
}

/** `writeHead` with an object, and the body as text. */
function sendObject(response, status, names, body, requestId) {
  const headers = {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  for (let at = 0; at < names.length; at += 2) headers[names[at]] = names[at + 1];
  if (body !== undefined) headers['Content-Length'] = Buffer.byteLength(body);
  response.writeHead(status, headers).end(body);
}

/**
 * `writeHead` with one array, and the body as Latin-1 text, which goes out in one piece with it.
 */
function sendLatin(response, status, names, body, requestId) {
  const always = [
    'X-Request-Id',
    requestId,
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    'no-referrer',
  ];
  response.writeHead(
    status,
    body === undefined
      ? [...names, ...always]
      : [...names, 'Content-Length', body.length, ...always],
  );
  response.end(body, 'latin1');
}

/** Collects the chunks. */
function readChunks(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

/** Copies into one buffer of the announced size. */
function readInto(request) {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.allocUnsafe(Number(request.headers['content-length']));
    let at = 0;
    request.on('data', (chunk) => {
      at += chunk.copy(bytes, at);
    });
    request.on('end', () => resolve(bytes));
    request.on('error', reject);
  });
}

/** As most people write it. */
async function readIterated(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const tries = {
  flat: [sendFlat, readChunks],
  object: [sendObject, readInto],
  latin: [sendLatin, readIterated],
};
const [send, read] = tries[variant];
const json = ['Content-Type', 'application/json'];

/** ASCII text in the form that `send` takes. */
const plain = (text) => (send === sendFlat ? Buffer.from(text) : text);
const problem = (response, status, requestId) =>
  send(response, status, json, plain(`{"status":${status}}`), requestId);

/** The playlists and configs here are pure ASCII. */
function conditional(request, response, { etag, names, bytes, text }, requestId) {
  if (request.headers['if-none-match'] === etag) send(response, 304, names, undefined, requestId);
  else send(response, 200, names, send === sendFlat ? bytes : text, requestId);
}

async function take(request, response, device, requestId) {
  const length = Number(request.headers['content-length']);
  if (!(length <= bodyLimit)) return problem(response, 413, requestId);
  if (!jsonType.test(request.headers['content-type'] ?? ''))
    return problem(response, 415, requestId);
  const bytes = await read(request);
  let events;
  try {
    events = JSON.parse(decode(bytes));
  } catch {
    return problem(response, 400, requestId);
  }
  if (!isBatch(events)) return problem(response, 400, requestId);
  await log.append(lineOf(device, bytes));
  send(response, 202, json, plain(`{"received":${events.length}}`), requestId);
}

const server = createServer((request, response) => {
  const requestId = requestIdOf(request.headers['x-request-id']);
  const [, id, what] = path.exec(request.url) ?? [];
  if (id === undefined) return problem(response, 404, requestId);
  if (request.method !== (what === 'events' ? 'POST' : 'GET'))
    return problem(response, 405, requestId);
  const device = authenticate(devices, request.headers.authorization, id);
  if (!device) return problem(response, 401, requestId);
  if (what === 'events')
    take(request, response, device, requestId).catch(() => problem(response, 503, requestId));
  else conditional(request, response, device[what], requestId);
});
server.listen(0, '127.0.0.1', () =>
  beServed(server.address().port, async () => {
    server.close();
    server.closeAllConnections();
    await log.close();
  }),
);
