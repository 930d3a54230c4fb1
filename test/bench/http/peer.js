// How a server of this comparison lives in its process: it tells its port, on each message its CPU
// time so far, and ends when told to.
export function beServed(port, close) {
  process.send?.({ port });
  process.on('message', async (message) => {
    if (message === 'stop') {
      await close();
      process.disconnect?.();
      return;
    }
    const { user, system } = process.cpuUsage();
    process.send?.({
      cpuMs: (user + system) / 1000,
      residentMB: process.memoryUsage().rss / 2 ** 20,
    });
  });
}
