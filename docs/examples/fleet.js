// Lets two simulated TVs live for a day with faults, and checks that no event was lost. Prints:
//   2 TVs lived for a day, and no event was lost.
import assert from 'node:assert/strict';
import { serve } from 'signage-kit';
import { runFleet } from 'signage-kit/simulator';

const service = await serve({ port: 0, store: 'memory:' });
const report = await runFleet({
  url: service.url,
  token: service.adminToken,
  count: 2,
  speed: Number.POSITIVE_INFINITY,
  lifeMs: 24 * 60 * 60 * 1000,
  seed: '7',
  faults: ['lost-answer:events:5%', 'power-cut:every 6h'],
});
assert.deepEqual(report.reconciliation.findings, []);
console.log(`${report.tvs.bound} TVs lived for a day, and no event was lost.`);
await service.close();
