// Makes a program live faster than real time. Load it with `node --import`.
// TV_PACE is how many times faster, TV_STARTED_MS when the first program of the TV started.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const pace = Number(process.env.TV_PACE);
const startedMs = Number(process.env.TV_STARTED_MS);
const realNow = Date.now;
const realSleep = timers.setTimeout;
const realGet = Headers.prototype.get;

Date.now = () => startedMs + (realNow() - startedMs) * pace;
timers.setTimeout = (ms, ...others) => realSleep(ms / pace, ...others);
// Disks do not get faster either.
const realWrite = fs.writeFileSync;
fs.writeFileSync = (file, data, options) => realWrite(file, data, { ...options, flush: false });
syncBuiltinESMExports();

// `Retry-After` is in seconds of the service, which do not pass faster.
Headers.prototype.get = function get(name) {
  const value = realGet.call(this, name);
  return name === 'retry-after' && value !== null ? String(value * pace) : value;
};

// So is the end of a playlist.
const realFetch = globalThis.fetch;
globalThis.fetch = async (url, request) => {
  const answer = await realFetch(url, request);
  if (answer.status !== 200 || !String(url).endsWith('/playlist')) return answer;
  const { validUntil, ...playlist } = await answer.json();
  const untilMs = Date.now() + (1000 * validUntil - realNow()) * pace;
  const body = JSON.stringify({ ...playlist, validUntil: untilMs / 1000 });
  return new Response(body, { headers: answer.headers });
};
