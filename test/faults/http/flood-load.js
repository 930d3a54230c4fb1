// One TV, and a flood that needs no credential. Prints the latencies of the TV in milliseconds, and
// how many responses of the flood came before each of its own.
import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../../../dist/domain/api-key.js';

const { url, aim, flood, floodPerSecond, tvPerSecond, seconds } = JSON.parse(process.argv[2]);
const { hostname, port, host } = new URL(url);
/** Connections of the flood. Each waits for its response. */
const width = 64;
const warmUpMs = 1_000;

function request(method, path, { key, body = '' }) {
  const credential = key ? [`Authorization: Bearer ${key}`] : [];
  const type = body
    ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
    : [];
  return `${[`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...credential, ...type].join('\r\n')}\r\n\r\n${body}`;
}

const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const madeUpCode = () =>
  Array.from(randomBytes(8), (byte) => alphabet[byte % alphabet.length]).join('');

/** Requests of each flood, made in advance, because making a key costs more than refusing it. */
const floods = {
  readyz: () => request('GET', '/readyz', {}),
  'unknown token': () => request('GET', '/v1/venues', { key: makeKey('mak_', randomBytes) }),
  'malformed token': () => request('GET', '/v1/venues', { key: 'mak_nonsense' }),
  'unknown device key': () =>
    request('GET', `/devices/${aim.screenId}/playlist`, { key: makeKey('dak_', randomBytes) }),
  registration: () =>
    request('POST', '/devices/register', {
      body: JSON.stringify({ pairingCode: madeUpCode(), deviceInfo: {} }),
    }),
};

/** A connection with one request at a time. */
class Line {
  #socket = connect({ host: hostname, port: Number(port), noDelay: true }).setEncoding('latin1');
  #text = '';
  #done;

  constructor() {
    this.#socket.on('error', () => {});
    this.#socket.on('data', (chunk) => {
      this.#text += chunk;
      const end = this.#text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/^content-length: (\d+)/im.exec(this.#text)?.[1] ?? 0);
      if (this.#text.length < end + 4 + length) return;
      const status = Number(this.#text.slice(9, 12));
      this.#text = '';
      this.#done(status);
    });
    this.#socket.on('close', () => this.#done?.(0));
  }

  send(text) {
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#socket.write(text);
    });
  }

  close() {
    this.#socket.destroy();
  }
}

const statuses = {};
let answered = 0;
let isOver = false;

async function sendFlood() {
  const texts = Array.from({ length: 2_000 }, floods[flood]);
  const free = Array.from({ length: width }, () => new Line());
  const lines = [...free];
  const startedMs = performance.now();
  let sent = 0;
  while (!isOver) {
    const due = ((performance.now() - startedMs) * floodPerSecond) / 1000;
    for (; sent < due && free.length > 0; sent++) {
      const line = free.pop();
      line.send(texts[sent % texts.length]).then((status) => {
        answered++;
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status !== 0) free.push(line);
      });
    }
    // Skips requests that could not be sent in time.
    if (sent < due) sent = Math.floor(due);
    await sleep(1);
  }
  for (const line of lines) line.close();
}

async function beTv() {
  const line = new Line();
  const body = JSON.stringify([{ type: 'heartbeat', timestamp: 1_760_000_000, id: randomUUID() }]);
  const path = `/devices/${aim.screenId}`;
  const asked = [
    request('GET', `${path}/playlist`, aim),
    request('POST', `${path}/events`, { ...aim, body }),
  ];
  const tookMs = [];
  const ahead = [];
  const wrong = {};
  const startedMs = performance.now();
  const endMs = startedMs + warmUpMs + seconds * 1000;
  for (let n = 0; performance.now() < endMs; n++) {
    const sentMs = performance.now();
    const before = answered;
    const status = await line.send(asked[n % 2]);
    if (status !== 200 && status !== 202) wrong[status] = (wrong[status] ?? 0) + 1;
    else if (sentMs - startedMs > warmUpMs) {
      tookMs.push(performance.now() - sentMs);
      ahead.push(answered - before);
    }
    await sleep(1000 / tvPerSecond);
  }
  isOver = true;
  line.close();
  return { tookMs, ahead, wrong };
}

const flooding = flood ? sendFlood() : undefined;
const { tookMs, ahead, wrong } = await beTv();
await flooding;
console.log(JSON.stringify({ tookMs, ahead, wrong, statuses }));
