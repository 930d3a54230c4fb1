// Sends requests of a list of TVs over 64 connections. Written on bare sockets, so that the load
// costs less than the servers.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const [tvsPath, batchesPath] = process.argv.slice(2);
const tvs = JSON.parse(readFileSync(tvsPath, 'utf8'));
const batches = JSON.parse(readFileSync(batchesPath, 'utf8'));
const connections = 64;
const headEnd = Buffer.from('\r\n\r\n');
/** Counts over all rounds, so that every TV gets its turn. */
let sent = 0;

function requestOf(tv, { resource, isConditional, isNewConnection }) {
  const lines = [
    `${resource === 'events' ? 'POST' : 'GET'} /devices/${tv.screenId}/${resource} HTTP/1.1`,
    'Host: signage.example',
    'User-Agent: bench',
    'Accept: */*',
    `Authorization: Bearer ${tv.apiKey}`,
  ];
  if (isConditional) lines.push(`If-None-Match: ${tv[resource].etag}`);
  if (isNewConnection) lines.push('Connection: close');
  if (resource !== 'events') return `${lines.join('\r\n')}\r\n\r\n`;
  const body = batches[sent % batches.length];
  lines.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends as fast as responses arrive, for `ms` or until `count` responses. */
async function run({ port, request, ms, count = Number.POSITIVE_INFINITY }) {
  let received = 0;
  const startMs = performance.now();
  const isOver = () => received >= count || performance.now() - startMs >= ms;
  const next = () => requestOf(tvs[sent++ % request.tvs], request);

  const useConnection = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let isDone = false;
      let rest = Buffer.alloc(0);
      socket.on('connect', () => socket.write(next()));
      socket.on('error', reject);
      socket.on('close', () => (isDone ? resolve() : reject(new Error('the server hung up'))));
      socket.on('data', (chunk) => {
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        rest = bytes;
        const head = bytes.indexOf(headEnd);
        if (head < 0) return;
        const text = bytes.latin1Slice(0, head);
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
        if (bytes.length < head + headEnd.length + length) return;
        rest = Buffer.alloc(0);
        if (Number(text.slice(9, 12)) !== request.status) return reject(new Error(text));
        received++;
        isDone = request.isNewConnection || isOver();
        if (isDone) socket.end();
        else socket.write(next());
      });
    });

  const worker = async () => {
    while (!isOver()) await useConnection();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return { count: received };
}

process.on('message', async (message) => {
  try {
    process.send?.(await run(message));
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
process.send?.({ ready: true });
