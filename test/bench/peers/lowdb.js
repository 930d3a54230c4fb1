// Plain lowdb: one JSON document, written after every change, without fsync. It makes the same
// checks and records as the service.
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Low } from 'lowdb';
import { JSONFile } from 'lowdb/node';

const [file] = process.argv.slice(2);
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'.slice(0, 31);
const codeTtlMs = 15 * 60_000;
const db = new Low(new JSONFile(file), { screens: [], devices: [], deviceKeys: [], codes: [] });
await db.read();
const { screens, devices, deviceKeys, codes } = db.data;

const error = (status, code) => ({ status, body: { status, code } });
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

async function createCode({ screenId }) {
  const screen = screens.find(({ id }) => id === screenId);
  if (!screen) return error(404, 'screen_not_found');
  if (screen.state === 'active') return error(409, 'screen_already_bound');
  const code = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('');
  const createdAt = Date.now();
  codes.push({
    id: sha256(code),
    screenId,
    state: 'pending',
    createdAt,
    expiresAt: createdAt + codeTtlMs,
  });
  await db.write();
  return {
    status: 201,
    body: { code, screenId, status: 'pending', createdAt, expiresAt: createdAt + codeTtlMs },
  };
}

async function register({ pairingCode, deviceInfo }) {
  if (!/^[A-Z0-9]{8}$/.test(pairingCode) || typeof deviceInfo !== 'object')
    return error(400, 'invalid_request');
  const hash = sha256(pairingCode);
  const code = codes.find(({ id }) => id === hash);
  if (!code) return error(404, 'pairing_code_not_found');
  if (code.state !== 'pending') return error(409, 'pairing_code_used');
  if (code.expiresAt <= Date.now()) return error(410, 'pairing_code_expired');
  const screen = screens.find(({ id }) => id === code.screenId);
  const [deviceId, apiKey] = [randomUUID(), `dak_${randomBytes(32).toString('hex')}`];
  Object.assign(code, { state: 'used', usedAt: Date.now(), deviceId });
  Object.assign(screen, { state: 'active', deviceId });
  devices.push({
    id: deviceId,
    screenId: screen.id,
    state: 'bound',
    deviceInfo,
    createdAt: Date.now(),
  });
  deviceKeys.push({
    id: randomUUID(),
    deviceId,
    screenId: screen.id,
    hash: sha256(apiKey),
    state: 'active',
    createdAt: Date.now(),
  });
  await db.write();
  return { status: 201, body: { deviceId, screenId: screen.id, apiKey } };
}

const answers = { '/v1/devices/provisioning-codes': createCode, '/devices/register': register };

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const { status, body } =
    (await answers[request.url]?.(JSON.parse(text))) ?? error(404, 'not_found');
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${server.address().port}` }),
);
process.on('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
