// The thread in which an examiner examines files: scripts/bundle-worker.js makes one file of
// this module and all that it needs.
import { parentPort } from 'node:worker_threads';
import { examine } from './examine.ts';
import type { FromWorker, ToWorker } from './verdict.ts';

const port = parentPort;
if (!port) throw new Error('This module runs in a worker thread only.');
const send = (message: FromWorker) => port.postMessage(message);

let lastId = 0;
const reads = new Map<number, (bytes: Uint8Array | undefined) => void>();

async function read(start: number, end: number): Promise<Uint8Array> {
  const id = ++lastId;
  send({ kind: 'read', id, start, end });
  const bytes = await new Promise<Uint8Array | undefined>((resolve) => reads.set(id, resolve));
  if (!bytes) throw new Error('These bytes cannot be read.');
  return bytes;
}

port.on('message', async (message: ToWorker) => {
  if (message.kind === 'bytes') {
    reads.get(message.id)?.(message.bytes);
    reads.delete(message.id);
    return;
  }
  const { head, isWhole, size } = message;
  const source = size === undefined ? undefined : { size, read };
  send({ kind: 'verdict', verdict: await examine({ head, isWhole, source }) });
});
send({ kind: 'ready' });
