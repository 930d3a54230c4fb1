// What both baselines do alike: authentication, request ids, and a durable file.
import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

export const bodyLimit = 1024 * 1024;

/** Returns the TVs by the hash of their keys, each with the responses of our service. */
export function readDevices(path) {
  const devices = new Map();
  for (const { apiKey, ...device } of JSON.parse(readFileSync(path, 'utf8')))
    devices.set(hash('sha256', apiKey, 'hex'), { ...device, state: 'active' });
  return devices;
}

const bearer = /^bearer +([^\s]+) *$/i;

/** Returns the TV with this key, if it is the one of the path. */
export function authenticate(devices, authorization, id) {
  const key = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
  if (key === undefined || !key.startsWith('dak_') || key.length !== 53) return undefined;
  const device = devices.get(hash('sha256', key, 'hex'));
  if (device?.state !== 'active') return undefined;
  const named = id.toLowerCase();
  return named === device.screenId || named === device.deviceId ? device : undefined;
}

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

export function requestIdOf(header) {
  return header !== undefined && requestIdForm.test(header) ? header : randomUUID();
}

/**
 * Opens a log with group commit: all appends that arrive during a sync share the next write and the
 * next `fdatasync`.
 */
export async function openLog(path) {
  const file = await open(path, 'a');
  let waiting = [];
  let isRunning = false;
  async function run() {
    isRunning = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        await file.appendFile(Buffer.concat(group.flatMap(({ parts }) => parts)));
        await file.datasync();
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isRunning = false;
  }
  return {
    append: (parts) =>
      new Promise((resolve, reject) => {
        waiting.push({ parts, resolve, reject });
        if (!isRunning) void run();
      }),
    close: () => file.close(),
  };
}

/** Sends the URL to the parent, then the CPU time so far on each message. */
export function reportToParent(server, log) {
  process.send?.({ url: `http://127.0.0.1:${server.address().port}` });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1000 });
  });
  process.on('disconnect', async () => {
    server.close();
    server.closeAllConnections();
    await log.close();
  });
}
