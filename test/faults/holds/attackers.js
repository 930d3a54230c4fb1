// Clients that use requests for changes to exhaust a service. Receives the attack, and then answers
// each message with the statuses that it got.
import { connect } from 'node:net';

const statuses = {};
const sockets = new Set();
let opening;

const headOf = ({ url, screenId, key, cursor }) => {
  const { host } = new URL(url);
  const path = `/devices/${screenId}/changes?waitSeconds=50&after=${cursor}`;
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n`;
};

/** What a connection sends, by kind of attack. `again`: sends it again 5 s after an answer. */
const attacks = {
  'a revoked key': (aim) => ({ bytes: `${headOf(aim)}\r\n`, again: true }),
  'half of a request': (aim) => ({ bytes: headOf(aim) }),
  'unread answers': (aim) => ({ bytes: `${headOf(aim)}\r\n`.repeat(20), isUnread: true }),
  'a cursor of 1 MB': (aim) => ({
    bytes: `${headOf({ ...aim, cursor: 'x'.repeat(2 ** 20) })}\r\n`,
  }),
};

function open({ url }, { bytes, again = false, isUnread = false }) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.add(socket);
  // An attacked service may close the connection at any time.
  socket.on('error', () => {});
  socket.on('close', () => sockets.delete(socket));
  socket.on('connect', () => socket.write(bytes));
  if (isUnread) {
    socket.pause();
    return;
  }
  socket.on('data', (answer) => {
    const status = answer.toString('latin1', 9, 12);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (again) setTimeout(() => socket.writable && socket.write(bytes), 5000).unref();
  });
}

/** Opens 2,000 connections a second. */
function start({ attack, connections, ...aim }) {
  const what = attacks[attack](aim);
  let opened = 0;
  opening = setInterval(() => {
    for (let n = 0; n < 20 && opened < connections; n++, opened++) open(aim, what);
    if (opened === connections) clearInterval(opening);
  }, 10);
}

process.on('message', (message) => {
  if (message.attack) start(message);
  process.send?.({ statuses, open: sockets.size });
});
// The connections would keep this process alive, and so would those that are still to be opened.
process.on('disconnect', () => {
  clearInterval(opening);
  for (const socket of sockets) socket.destroy();
});
process.send?.({ ready: true });
