// Runs TVs in real time that hold requests for changes, and tells when each one got a playlist.
import { setMaxListeners } from 'node:events';
import { RuntimeClient } from '../../dist/entry/client.js';
import { Player, ramMemory } from '../../dist/entry/simulator.js';

/** When the TVs got a version, in epoch milliseconds. */
let fetchedAtMs = [];
const power = new AbortController();
setMaxListeners(0, power.signal);

async function run(client, { tenantId, screenId, deviceId, apiKey }) {
  const memory = ramMemory();
  const binding = { tenantId, screenId, deviceId, apiKey };
  await memory.save({ format: 1, binding, queue: [] });
  const onPlaylist = (playlist) => playlist && fetchedAtMs.push(Date.now());
  await new Player({ client, deviceInfo: { model: 'TV' }, memory, observer: { onPlaylist } }).run(
    power.signal,
  );
}

process.on('message', ({ url, tvs }) => {
  if (url) {
    const client = new RuntimeClient({ url });
    for (const tv of tvs) void run(client, tv);
  }
  process.send?.({ fetchedAtMs });
  fetchedAtMs = [];
});
process.on('disconnect', () => power.abort());
process.send?.({ ready: true });
