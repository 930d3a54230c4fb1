// Holds one request for changes per TV, on a connection of its own, and counts the answers.
import { connect } from 'node:net';

const cursor = /"cursor":"([^"]+)"/;

/**
 * Asks again after each answer, so that the TV is always held. `isOnce`: only until its first hold
 * has ended.
 */
function holdTv({ port, host, isOnce, waitSeconds }, { screenId, apiKey }, tally) {
  const socket = connect(port, host);
  sockets.push(socket);
  let after = '';
  const ask = () =>
    socket.write(
      `GET /devices/${screenId}/changes?waitSeconds=${waitSeconds}${after && `&after=${after}`} HTTP/1.1\r\n` +
        `Host: ${host}:${port}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
    );
  socket.on('data', (bytes) => {
    const at = Date.now();
    const text = bytes.toString('latin1');
    const [, next] = cursor.exec(text) ?? [];
    const status = text.slice(9, 12);
    tally.byStatus[status] = (tally.byStatus[status] ?? 0) + 1;
    if (next === undefined) return;
    if (after !== '' && next !== after && !told.has(screenId)) {
      told.add(screenId);
      tally.toldAtMs.push(at);
    }
    const wasHeld = after !== '';
    if (wasHeld) tally.ended++;
    after = next;
    if (!wasHeld || !isOnce) ask();
  });
  socket.on('error', () => tally.lost++);
  socket.on('connect', ask);
}

/** Pipelines held requests, and never reads. */
function attack({ port, host }, { screenId, apiKey }, after) {
  const socket = connect(port, host);
  sockets.push(socket);
  const request =
    `GET /devices/${screenId}/changes?waitSeconds=50&after=${after} HTTP/1.1\r\n` +
    `Host: ${host}:${port}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  socket.on('error', () => {});
  socket.on('connect', () => socket.pause().write(request.repeat(20)));
}

const sockets = [];
/** TVs whose first change since the last message counts. */
const told = new Set();
const tally = { byStatus: {}, lost: 0, ended: 0, toldAtMs: [] };
process.on('message', ({ url, tvs, attackAfter, isOnce, waitSeconds = 50 }) => {
  if (url) {
    const { hostname: host, port } = new URL(url);
    let next = 0;
    // Opens 2,000 connections a second.
    const opening = setInterval(() => {
      for (const tv of tvs.slice(next, next + 20)) {
        const at = { host, port: Number(port), isOnce, waitSeconds };
        if (attackAfter) attack(at, tv, attackAfter);
        else holdTv(at, tv, tally);
      }
      next += 20;
      if (next >= tvs.length) clearInterval(opening);
    }, 10);
  }
  process.send?.(tally);
  tally.toldAtMs = [];
  told.clear();
});
// The connections would keep this process alive.
process.on('disconnect', () => {
  for (const socket of sockets) socket.destroy();
});
process.send?.({ ready: true });
