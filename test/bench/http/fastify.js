// Fastify as its users write it: its router, its JSON parser, ajv with a JSON Schema, and one line
// of the log for each event.
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
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
const log = await openLog(`${folder}/fastify.ndjson`);

const guid = '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$';
const idNames = ['playlistId', 'creativeId', 'campaignId'];
const ids = (schema) => Object.fromEntries(idNames.map((name) => [name, schema]));
const event = {
  type: 'object',
  required: ['type', 'timestamp'],
  properties: {
    type: { type: 'string', pattern: '^[a-z0-9._-]{1,64}$' },
    timestamp: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    ...ids({ type: ['string', 'null'], pattern: guid }),
  },
  if: { properties: { type: { const: 'impression' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    required: idNames,
    properties: { ...ids({ type: 'string' }), duration: { type: ['number', 'null'], minimum: 0 } },
  },
};
const body = { type: 'array', minItems: 1, maxItems: 100, items: event };

const app = Fastify({
  bodyLimit,
  genReqId: (request) => requestIdOf(request.headers['x-request-id']),
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, strict: false } },
});
app.decorateRequest('device', null);
app.addHook('onRequest', (request, reply, done) => {
  reply.headers({
    'X-Request-Id': request.id,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': 'sandbox',
  });
  request.device = authenticate(devices, request.headers.authorization, request.params.id ?? '');
  if (request.device) done();
  else reply.code(401).send({ status: 401 });
});

for (const resource of ['playlist', 'config']) {
  app.get(`/devices/:id/${resource}`, (request, reply) => {
    const { etag, headers, text } = request.device[resource];
    reply.headers(headers);
    const isUnchanged = request.headers['if-none-match'] === etag;
    return isUnchanged ? reply.code(304).send() : reply.send(text);
  });
}

app.post('/devices/:id/events', { schema: { body } }, async (request, reply) => {
  const { deviceId, screenId } = request.device;
  const receivedAt = Date.now();
  const lines = request.body.map((event) =>
    JSON.stringify({ id: randomUUID(), receivedAt, deviceId, screenId, event }),
  );
  await log.append([Buffer.from(`${lines.join('\n')}\n`)]);
  return reply.code(202).send({ received: lines.length });
});

await app.listen({ port: 0, host: '127.0.0.1' });
reportToParent(app.server, log);
