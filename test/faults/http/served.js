// Runs the built service. Sends its URL, then its usage on each message. Its disk can be slowed
// down through the store's own disk interface.
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveOn } from '../../../dist/serve.js';
import { nodeFileSystem } from '../../../dist/store/json/disk/file-system.js';
import { openStore } from '../../../dist/store/location/open.js';

const { data, adminToken, bytesPerSecond } = JSON.parse(process.argv[2]);

/** A disk with a limited write rate. */
function slowDisk(disk) {
  const slow = (file) => ({
    ...file,
    async write(bytes, position) {
      await sleep((bytes.length / bytesPerSecond) * 1000);
      return file.write(bytes, position);
    },
  });
  return {
    ...disk,
    create: async (path) => slow(await disk.create(path)),
    open: async (path, how) => slow(await disk.open(path, how)),
  };
}

/** Returns the target of each open descriptor. */
function descriptors() {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}

const disk = bytesPerSecond ? slowDisk(nodeFileSystem) : nodeFileSystem;
const service = await serveOn((location, options) => openStore(location, { ...options, disk }), {
  port: 0,
  store: data,
  adminToken,
});
process.send({ url: service.url });
process.on('disconnect', () => service.close());
process.on('message', async () => {
  for (let pass = 0; pass < 4; pass++) {
    globalThis.gc?.();
    await sleep(50);
  }
  const { user, system } = process.cpuUsage();
  const { heapUsed, rss } = process.memoryUsage();
  process.send({
    heapBytes: heapUsed,
    residentBytes: rss,
    open: descriptors(),
    cpuMs: (user + system) / 1000,
  });
});
