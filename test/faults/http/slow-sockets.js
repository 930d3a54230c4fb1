// Clients that hold connections: without a byte, with a header line per second, or with a body byte
// per second. They reconnect at once. Reports connections, cut-offs and connection errors.
import { connect } from 'node:net';

const [host, port, count] = process.argv.slice(2);
const heads = [
  '',
  `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n`,
  `POST /devices/register HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10000\r\n\r\n{`,
];
const open = new Set();
/**
 * Spreads the connections, and so their time-outs after 10 s and 15 s, because the accept queue is
 * short.
 */
const comeWithinMs = 10_000;
const tickMs = 20;
let connected = 0;
let cutOff = 0;
const failures = {};
let isOver = false;

function hold(kind) {
  const head = heads[kind];
  let isConnected = false;
  let drip;
  const socket = connect(Number(port), host, () => {
    isConnected = true;
    connected++;
    if (head === '') return;
    socket.write(head);
    drip = setInterval(() => socket.write(kind === 1 ? 'X-Slow: 1\r\n' : ' '), 1_000);
  });
  open.add(socket);
  socket.resume().on('error', ({ code }) => {
    if (!isConnected) failures[code] = (failures[code] ?? 0) + 1;
  });
  socket.on('close', () => {
    if (isConnected) connected--;
    if (isConnected && !isOver) cutOff++;
    clearInterval(drip);
    open.delete(socket);
    if (!isOver) setTimeout(() => isOver || hold(kind), 200);
  });
}

const startedMs = performance.now();
let begun = 0;
const begin = setInterval(() => {
  const due = Math.min(
    Number(count),
    ((performance.now() - startedMs) / comeWithinMs) * Number(count),
  );
  while (begun < due) hold(begun++ % heads.length);
  if (begun >= Number(count)) clearInterval(begin);
}, tickMs);
const tell = setInterval(() => process.send({ connected, cutOff, failures }), 200);
process.on('disconnect', () => {
  isOver = true;
  clearInterval(begin);
  clearInterval(tell);
  for (const socket of open) socket.destroy();
});
