// Clients that attack a service, in a process of their own. Receives the attack, and then answers
// each message with what they have met so far.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../../../dist/domain/api-key.js';

/** Responses by status, connections, those that were cut off, and connection errors by code. */
const met = { statuses: {}, connected: 0, cutOff: 0, failures: {} };
const sockets = new Set();
let isOver = false;

const count = (counts, name) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

function request(method, path, { host, key, body = '', more = [] }) {
  const credential = key ? [`Authorization: Bearer ${key}`] : [];
  const type = body
    ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
    : [];
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...credential, ...type, ...more];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const changes = ({ screenId, cursor, ...aim }) =>
  request('GET', `/devices/${screenId}/changes?waitSeconds=50&after=${cursor}`, aim);

/**
 * What a connection sends. `againMs`: sends it again so long after an answer. `drip`: sends this
 * every second. `comesBack`: connects again when it is cut off.
 */
const connections = {
  'a revoked key': (aim) => ({ bytes: changes(aim), againMs: 5000 }),
  'half of a request': (aim) => ({ bytes: changes(aim).slice(0, -2) }),
  'unread answers': (aim) => ({ bytes: changes(aim).repeat(20), isUnread: true }),
  'a cursor of 1 MB': (aim) => ({ bytes: changes({ ...aim, cursor: 'x'.repeat(2 ** 20) }) }),
  'slow requests': ({ host }, n) => ({
    comesBack: true,
    ...[
      { bytes: '' },
      { bytes: `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n`, drip: 'X-Slow: 1\r\n' },
      {
        bytes: `POST /devices/register HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10000\r\n\r\n{`,
        drip: ' ',
      },
    ][n % 3],
  }),
};

const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const madeUpCode = () =>
  Array.from(randomBytes(8), (byte) => alphabet[byte % alphabet.length]).join('');

/** Requests of floods without a credential. */
const floods = {
  readyz: (aim) => request('GET', '/readyz', { host: aim.host }),
  'unknown token': (aim) =>
    request('GET', '/v1/venues', { ...aim, key: makeKey('mak_', randomBytes) }),
  'malformed token': (aim) => request('GET', '/v1/venues', { ...aim, key: 'mak_nonsense' }),
  'unknown device key': (aim) =>
    request('GET', `/devices/${aim.screenId}/playlist`, {
      ...aim,
      key: makeKey('dak_', randomBytes),
    }),
  registration: (aim) =>
    request('POST', '/devices/register', {
      host: aim.host,
      body: JSON.stringify({ pairingCode: madeUpCode(), deviceInfo: {} }),
    }),
};

function open(aim, n) {
  const { bytes, againMs, isUnread, drip, comesBack } = connections[aim.attack](aim, n);
  const { hostname, port } = new URL(aim.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let isConnected = false;
  let dripping;
  sockets.add(socket);
  socket.on('connect', () => {
    isConnected = true;
    met.connected++;
    if (bytes) socket.write(bytes);
    if (drip) dripping = setInterval(() => socket.write(drip), 1000);
  });
  // An attacked service may close the connection at any time.
  socket.on('error', ({ code }) => {
    if (!isConnected) count(met.failures, code);
  });
  socket.on('close', () => {
    sockets.delete(socket);
    clearInterval(dripping);
    if (isConnected) met.connected--;
    if (isConnected && !isOver) met.cutOff++;
    if (comesBack) setTimeout(() => isOver || open(aim, n), 200);
  });
  if (isUnread) {
    socket.pause();
    return;
  }
  socket.on('data', (answer) => {
    count(met.statuses, answer.toString('latin1', 9, 12));
    if (againMs) setTimeout(() => socket.writable && socket.write(bytes), againMs).unref();
  });
}

/** Opens so many connections a second. */
async function openAll(aim) {
  const startedMs = performance.now();
  for (let opened = 0; opened < aim.connections && !isOver; await sleep(10)) {
    const due = ((performance.now() - startedMs) * aim.perSecond) / 1000;
    while (opened < Math.min(due, aim.connections)) open(aim, opened++);
  }
}

/** A connection of a flood, with one request at a time. */
function openLine({ url }, onAnswer) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let text = '';
  sockets.add(socket.setEncoding('latin1').on('error', () => {}));
  socket.on('data', (chunk) => {
    text += chunk;
    const end = text.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
    if (end < 0 || text.length < end + 4 + length) return;
    count(met.statuses, text.slice(9, 12));
    text = '';
    onAnswer(socket);
  });
  return socket;
}

/** Sends so many requests a second. Skips those that cannot be sent in time. */
async function flood(aim) {
  // Made in advance, because making a key costs more than refusing it.
  const texts = Array.from({ length: 2000 }, () => floods[aim.attack](aim));
  const free = [];
  for (let n = 0; n < aim.connections; n++) free.push(openLine(aim, (socket) => free.push(socket)));
  const startedMs = performance.now();
  for (let sent = 0; !isOver; await sleep(1)) {
    const due = Math.floor(((performance.now() - startedMs) * aim.perSecond) / 1000);
    for (; sent < due && free.length > 0; sent++) free.pop().write(texts[sent % texts.length]);
    sent = due;
  }
}

process.on('message', (message) => {
  if (message.attack) {
    const aim = { ...message, host: new URL(message.url).host };
    void (floods[aim.attack] ? flood(aim) : openAll(aim));
  }
  process.send?.(met);
});
// The connections would keep this process alive.
process.on('disconnect', () => {
  isOver = true;
  for (const socket of sockets) socket.destroy();
});
process.send?.({ ready: true });
