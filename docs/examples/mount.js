// Mounts the service in servers of Express, Fastify and Hono. Prints:
//   Express: Express
//   Fastify: Express, Fastify
//   Hono: Express, Fastify, Hono
import { once } from 'node:events';
import { serve as listenWithHono } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { serve } from 'signage-kit';
import { ManagementClient } from 'signage-kit/client';

const service = await serve({
  store: 'memory:',
  listen: false,
  publicUrl: 'https://example.com/signage',
});

// Express. Mount the service before express.json(): it reads the bodies itself.
const expressApp = express();
expressApp.use('/signage', service.nodeHandler);
expressApp.use(express.json());
const expressServer = expressApp.listen(0, '127.0.0.1');
await once(expressServer, 'listening');

// Fastify. In this scope, no parser reads the bodies.
const fastifyApp = fastify();
await fastifyApp.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  scope.all('/signage/*', (request, reply) => {
    reply.hijack();
    service.nodeHandler(request.raw, reply.raw);
  });
});
await fastifyApp.listen({ host: '127.0.0.1', port: 0 });

// Hono. Without the address, all callers would share one limit on guessed pairing codes.
/** @type {Hono<{ Bindings: import('@hono/node-server').HttpBindings }>} */
const honoApp = new Hono();
honoApp.all('/signage/*', ({ req, env }) =>
  service.fetch(req.raw, { remoteAddress: env.incoming.socket.remoteAddress }),
);
const honoServer = listenWithHono({ fetch: honoApp.fetch, hostname: '127.0.0.1', port: 0 });
await once(honoServer, 'listening');

const servers = { Express: expressServer, Fastify: fastifyApp.server, Hono: honoServer };
for (const [name, server] of Object.entries(servers)) {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}/signage`;
  const management = new ManagementClient({ url, token: service.adminToken ?? '' });
  await management.call('createVenue', { body: { name } });
  const { items } = await management.call('listVenues');
  console.log(`${name}: ${items.map((venue) => venue.name).join(', ')}`);
}

expressServer.close();
honoServer.close();
await fastifyApp.close();
await service.close();
