// The service in a process of its own, for benchmarks: tells its URL, then on each message how it
// has fared.
import { serve } from '../../dist/index.js';
import { watchHolds } from './holds.js';

const [data, adminToken, more = '{}'] = process.argv.slice(2);
const started = performance.now();
const service = await serve({ port: 0, store: data, adminToken, ...JSON.parse(more) });
const startMs = performance.now() - started;
const holds = watchHolds();
process.send?.({ url: service.url, startMs });
process.on('message', async (message) => {
  if (message === 'stop') {
    await service.close();
    process.disconnect?.();
    return;
  }
  if (message === 'watch anew') holds.reset();
  const { user, system } = process.cpuUsage();
  process.send?.({
    ...holds.longest,
    cpuMs: (user + system) / 1000,
    residentMB: process.memoryUsage().rss / 2 ** 20,
  });
});
