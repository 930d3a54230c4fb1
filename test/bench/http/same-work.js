// What every server of this comparison does alike: the key check, the headers, the check of events,
// and the durable file.
import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** The TVs by the hash of their keys, each with the bytes that it is to get. */
export function readDevices(path) {
  const devices = new Map();
  for (const { apiKey, playlist, config, ...device } of JSON.parse(readFileSync(path, 'utf8'))) {
    const bytes = (answer) => ({ ...answer, bytes: Buffer.from(answer.text) });
    devices.set(hash('sha256', apiKey, 'hex'), {
      ...device,
      state: 'active',
      playlist: bytes(playlist),
      config: bytes(config),
    });
  }
  return devices;
}

const bearer = /^bearer +([^\s]+) *$/i;

/** The TV that has shown its key, and is the one of the path; `undefined` for anybody else. */
export function authenticate(devices, authorization, id) {
  const key = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
  if (key === undefined || !key.startsWith('dak_') || key.length !== 53) return undefined;
  const device = devices.get(hash('sha256', key, 'hex'));
  if (device?.state !== 'active') return undefined;
  const named = id.toLowerCase();
  return named === device.screenId || named === device.deviceId ? device : undefined;
}

const idForm = /^[A-Za-z0-9._-]{1,128}$/;

export function requestIdOf(given) {
  return given !== undefined && idForm.test(given) ? given : randomUUID();
}

export const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
export const bodyLimit = 1024 * 1024;

const eventType = /^[a-z0-9._-]{1,64}$/;
const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function isEvent(event) {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return false;
  const { type, timestamp, playlistId, creativeId, campaignId, duration } = event;
  if (typeof type !== 'string' || !eventType.test(type)) return false;
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) return false;
  const isImpression = type === 'impression';
  for (const id of [playlistId, creativeId, campaignId]) {
    if (id === undefined || id === null) {
      if (isImpression) return false;
    } else if (typeof id !== 'string' || !guid.test(id)) return false;
  }
  return (
    !isImpression ||
    duration === undefined ||
    duration === null ||
    (Number.isFinite(duration) && duration >= 0)
  );
}

/** The same rules as the service has, by hand. */
export function isBatch(events) {
  return (
    Array.isArray(events) && events.length >= 1 && events.length <= 100 && events.every(isEvent)
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a body; throws what is no well-formed UTF-8. */
export const decode = (bytes) => utf8.decode(bytes);

const [lineFeed, carriageReturn, space] = [0x0a, 0x0d, 0x20];

/** The body as the part of one line: a line break in valid JSON is white space. */
function oneLine(bytes) {
  if (!bytes.includes(lineFeed) && !bytes.includes(carriageReturn)) return bytes;
  return bytes.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte));
}

const closing = Buffer.from('}\n');

/** The batch as one line of the log: the events go in as the bytes that came. */
export function lineOf(device, sent) {
  const head = JSON.stringify({
    id: randomUUID(),
    receivedAt: Date.now(),
    deviceId: device.deviceId,
    screenId: device.screenId,
  });
  return [Buffer.from(`${head.slice(0, -1)},"events":`), oneLine(sent), closing];
}

/**
 * A log with group commit: what comes while the disk is busy shares the next write and, when
 * `synced`, the next `fdatasync`.
 */
export async function openLog(path, synced) {
  const file = await open(path, 'a');
  let waiting = [];
  let running = false;
  async function run() {
    running = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        await file.appendFile(Buffer.concat(group.flatMap(({ parts }) => parts)));
        if (synced) await file.datasync();
        for (const { done } of group) done();
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
    }
    running = false;
  }
  return {
    append: (parts) =>
      new Promise((done, failed) => {
        waiting.push({ parts, done, failed });
        if (!running) void run();
      }),
    close: () => file.close(),
  };
}
