// TVs that hold requests for changes and fetch their playlist after each change. They do nothing
// else, because real TVs do not share the service's processor. Tells when each one got a playlist.
import { Agent, request } from 'undici';

/** When the TVs got a version, in epoch milliseconds. */
let fetchedAtMs = [];
const dispatcher = new Agent({ connections: null, bodyTimeout: 0, headersTimeout: 0 });

async function run(url, { deviceId, apiKey }) {
  const get = async (path) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const { body } = await request(`${url}/devices/${deviceId}${path}`, { headers, dispatcher });
    return body.json();
  };
  for (let after; ; ) {
    const { cursor } = await get(`/changes${after ? `?waitSeconds=50&after=${after}` : ''}`);
    if (cursor === after) continue;
    after = cursor;
    await get('/playlist');
    fetchedAtMs.push(Date.now());
  }
}

process.on('message', ({ url, tvs }) => {
  // Ends with the service.
  if (url) for (const tv of tvs) run(url, tv).catch(() => {});
  process.send?.({ fetchedAtMs });
  fetchedAtMs = [];
});
process.on('disconnect', () => dispatcher.destroy());
process.send?.({ ready: true });
