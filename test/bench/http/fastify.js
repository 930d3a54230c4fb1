// Fastify, with its own router, its own validation (ajv, compiled from the schema of the service)
// and the raw bytes of a batch kept.

import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { beServed } from './peer.js';
import {
  authenticate,
  bodyLimit,
  decode,
  lineOf,
  openLog,
  readDevices,
  requestIdOf,
} from './same-work.js';

const [folder, , synced] = process.argv.slice(2);
const devices = readDevices(`${folder}/devices.json`);
const body = JSON.parse(readFileSync(`${folder}/schema.json`, 'utf8'));
const log = await openLog(`${folder}/fastify-${synced}.ndjson`, synced === 'synced');

const app = Fastify({
  bodyLimit,
  genReqId: (request) => requestIdOf(request.headers['x-request-id']),
  ajv: {
    customOptions: {
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      allErrors: false,
      strict: false,
    },
  },
});
app.decorateRequest('device', null);
app.decorateRequest('sent', null);
app.removeContentTypeParser('application/json');
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
  request.sent = bytes;
  try {
    done(null, JSON.parse(decode(bytes)));
  } catch (error) {
    error.statusCode = 400;
    done(error);
  }
});
app.addHook('onRequest', (request, reply, done) => {
  reply.headers({
    'X-Request-Id': request.id,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
  request.device = authenticate(devices, request.headers.authorization, request.params.id ?? '');
  if (request.device) done();
  else reply.code(401).send({ status: 401 });
});

function conditional(request, reply, { etag, headers, bytes }) {
  reply.headers(headers);
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(bytes);
}

app.get('/devices/:id/playlist', (request, reply) =>
  conditional(request, reply, request.device.playlist),
);
app.get('/devices/:id/config', (request, reply) =>
  conditional(request, reply, request.device.config),
);
app.post('/devices/:id/events', { schema: { body } }, async (request, reply) => {
  await log.append(lineOf(request.device, request.sent));
  return reply.code(202).type('application/json').send(`{"received":${request.body.length}}`);
});
await app.listen({ port: 0, host: '127.0.0.1' });
beServed(app.server.address().port, async () => {
  app.server.closeAllConnections();
  await app.close();
  await log.close();
});
