import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/network/free-port.ts';
import { firstStart, type Started } from '../starts/first-starts.ts';
import { seeded } from './seeded-defect.ts';

const bootstrapMs = 20;

/**
 * Starts a server that answers 401 until its bootstrap is over. It opens its port before or after
 * that.
 */
async function start(opensEarly = false): Promise<Started> {
  const port = await freePort();
  let isReady = false;
  const server = createServer(
    (_, answer) => void answer.writeHead(isReady ? 200 : 401).end('{"code":"credential_invalid"}'),
  );
  const bootstrapped = sleep(bootstrapMs).then(() => {
    isReady = true;
  });
  if (!opensEarly) await bootstrapped;
  server.listen(port, '127.0.0.1');
  return { port, ended: new Promise<never>(() => {}), end: async () => void server.close() };
}

export const starts = seeded(
  'first-starts',
  (opensEarly?: boolean) => firstStart([() => start(opensEarly)]),
  { 'the port opens before the admin token is in the store': true },
);
