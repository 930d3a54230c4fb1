// The load: connections, each of one TV, that send a request, wait for its answer, and send the
// next. Written on bare sockets, so that it never is what is measured.
import { connect } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Sends as fast as answers come, for `ms` or until there were `count`; answers how many there were,
 * by status.
 */
async function run({ port, requests, connections, ms, count = Number.POSITIVE_INFINITY }) {
  const messages = requests.map((text) => Buffer.from(text));
  const counts = {};
  let next = 0;
  const startMs = performance.now();
  const endMs = startMs + ms;
  const goesOn = () => next < count && performance.now() < endMs;

  const one = (_, n) =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let rest = null;
      const send = () => {
        next++;
        socket.write(messages[n % messages.length]);
      };
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('close', () => (goesOn() ? reject(new Error('the server hung up')) : resolve()));
      socket.on('data', (chunk) => {
        const bytes = rest === null ? chunk : Buffer.concat([rest, chunk]);
        rest = bytes;
        const head = bytes.indexOf(headEnd);
        if (head < 0) return;
        const text = bytes.latin1Slice(0, head);
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
        if (bytes.length < head + 4 + length) return;
        rest = null;
        const status = text.slice(9, 12);
        counts[status] = (counts[status] ?? 0) + 1;
        if (goesOn()) send();
        else socket.end();
      });
    });

  await Promise.all(Array.from({ length: connections }, one));
  return { counts, ms: performance.now() - startMs };
}

process.on('message', async (message) => {
  if (message === 'stop') return process.disconnect?.();
  try {
    process.send?.({ ...(await run(message)), cpuMs: process.cpuUsage().user / 1000 });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
process.send?.({ ready: true });
