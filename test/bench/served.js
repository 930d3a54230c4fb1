// Runs the built service for benchmarks. Sends its URL, then its usage on each message.
import { serve } from '../../dist/index.js';
import { watchHolds } from './holds/holds.js';

const [data, adminToken, options] = process.argv.slice(2);
const started = performance.now();
const service = await serve({ port: 0, store: data, adminToken, ...JSON.parse(options) });
const startMs = performance.now() - started;
const holds = watchHolds();
process.send?.({ url: service.url, startMs });
process.on('disconnect', () => service.close());
process.on('message', (message) => {
  if (message === 'reset holds') holds.reset();
  if (message === 'stop watching holds') holds.stop();
  const { user, system } = process.cpuUsage();
  process.send?.({
    ...holds.longest,
    cpuMs: (user + system) / 1000,
    residentMB: process.memoryUsage().rss / 2 ** 20,
  });
});
