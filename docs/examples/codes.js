// Gives each screen without a TV a pairing code, and waits for the first one to be used. Prints:
//   The venue exists: true
//   3 codes
//   Stopped: the shift is over
import { serve } from 'signage-kit';
import { hasCode, ManagementClient, SignageError } from 'signage-kit/client';

// A deployment to try it on. Use the URL and a token of yours instead.
const service = await serve({ port: 0, store: 'memory:' });
const management = new ManagementClient({
  url: service.url,
  token: service.adminToken ?? '',
  timeoutMs: 5_000,
  retry: { attempts: 6, longestDelayMs: 10_000 },
});

const venue = await management.call('createVenue', { body: { name: 'Lobby' } });
for (const name of ['Left', 'Right', 'Entrance'])
  await management.call('createScreen', { body: { venueId: venue.id, name } });

// A record that exists already is no reason to stop.
try {
  await management.call('createVenue', { body: { name: 'Lobby' } });
} catch (error) {
  if (!hasCode(error, 'name_taken')) throw error;
  console.log(`The venue exists: ${error.existingId === venue.id}`);
}

// All pages, two records at a time. The script gives up after a minute.
const signal = AbortSignal.timeout(60_000);
const query = { venueId: venue.id, limit: 2 };
/** @type {string[]} */
const codes = [];
for await (const screen of management.all('listScreens', { query, signal })) {
  if (screen.state === 'active') continue;
  const { code } = await management.call('createCode', { body: { screenId: screen.id }, signal });
  codes.push(code);
}
console.log(`${codes.length} codes`);

// Wait for a TV to use the first code, until somebody cancels.
const stop = new AbortController();
setTimeout(() => stop.abort('the shift is over'), 50);
const [code = ''] = codes;
try {
  await management.call('getCodeStatus', {
    params: { code },
    query: { waitSeconds: 30 },
    signal: stop.signal,
  });
} catch (error) {
  if (!(error instanceof SignageError) || error.code !== 'interrupted') throw error;
  console.log(`Stopped: ${error.cause}`);
}
await service.close();
