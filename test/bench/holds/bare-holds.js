// A server on bare node:http that only holds requests for changes, and answers them at their end.
// Sends its URL, then its usage on each message.
import { createServer } from 'node:http';

/** Ends of holds within the same step share a timer, as in the service. */
const stepMs = 100;
const body = JSON.stringify({
  cursor: '0123456789abcdefghijkl',
  playlist: { version: 1, etag: '"0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e.1.1760000000000"' },
  config: { etag: '"0123456789abcdefghijklmnopq"' },
});
const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
/** Responses by the step in which they are due. */
const due = new Map();
let held = 0;

function answer(response) {
  response.writeHead(200, headers).end(body);
}

function hold(response, waitSeconds) {
  held++;
  const ms = waitSeconds * 1000 * (0.8 + 0.2 * Math.random());
  const step = Math.ceil((Date.now() + ms) / stepMs) * stepMs;
  const present = due.get(step);
  if (present) {
    present.push(response);
    return;
  }
  due.set(step, [response]);
  setTimeout(() => {
    const responses = due.get(step);
    due.delete(step);
    held -= responses.length;
    for (const one of responses) answer(one);
  }, step - Date.now());
}

const server = createServer((request, response) => {
  if (request.url === '/metrics') response.end(`\nsignage_held_devices ${held}\n`);
  else if (request.url.includes('after='))
    hold(response, Number(/waitSeconds=(\d+)/.exec(request.url)[1]));
  else answer(response);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${server.address().port}` }),
);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({
    cpuMs: (user + system) / 1000,
    residentMB: process.memoryUsage().rss / 2 ** 20,
  });
});
process.on('disconnect', () => {
  for (const responses of due.values()) for (const one of responses) one.destroy();
  server.close();
  server.closeAllConnections();
});
