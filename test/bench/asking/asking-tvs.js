// TVs that fetch their playlists, 100 a second in all. They have a process of their own, because
// the work of a client of the management API must not delay them. Tells how long each answer took.
import { Agent, request } from 'undici';

let latencies = [];
let timer;
const dispatcher = new Agent({ connections: null });

async function ask(url, { deviceId, apiKey }) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const start = performance.now();
  const { statusCode, body } = await request(`${url}/devices/${deviceId}/playlist`, {
    headers,
    dispatcher,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`A TV got ${statusCode}.`);
  latencies.push(performance.now() - start);
}

process.on('message', ({ url, tvs }) => {
  let n = 0;
  if (url) timer = setInterval(() => ask(url, tvs[n++ % tvs.length]), 10);
  process.send?.({ latencies });
  latencies = [];
});
process.on('disconnect', () => {
  clearInterval(timer);
  dispatcher.destroy();
});
process.send?.({ ready: true });
