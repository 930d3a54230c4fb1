// Clients that hold connections and never get on: some send nothing, some a header a second, some a body a byte a second. Whoever is cut off
// comes again at once. Tells how many are connected; ends with the channel.
import { connect } from 'node:net';

const [host, port, count] = process.argv.slice(2);
const heads = [
  '',
  `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n`,
  `POST /devices/register HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10000\r\n\r\n{`,
];
const open = new Set();
let connected = 0;
let isOver = false;

function hold(kind) {
  const head = heads[kind];
  let drip;
  const socket = connect(Number(port), host, () => {
    connected++;
    if (head === '') return;
    socket.write(head);
    drip = setInterval(() => socket.write(kind === 1 ? 'X-Slow: 1\r\n' : ' '), 1_000);
  });
  open.add(socket);
  socket.resume().on('error', () => {});
  socket.on('close', () => {
    if (drip || head === '') connected--;
    clearInterval(drip);
    open.delete(socket);
    if (!isOver) setTimeout(() => isOver || hold(kind), 200);
  });
}

// Not all at once: the queue of connections to be accepted is short.
let begun = 0;
const begin = setInterval(() => {
  for (let n = 0; n < 100 && begun < Number(count); n++) hold(begun++ % heads.length);
  if (begun >= Number(count)) clearInterval(begin);
}, 20);
const tell = setInterval(() => process.send({ connected }), 200);
process.on('disconnect', () => {
  isOver = true;
  clearInterval(begin);
  clearInterval(tell);
  for (const socket of open) socket.destroy();
});
