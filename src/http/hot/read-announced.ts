import type { IncomingMessage } from 'node:http';
import { brokeOff } from '../body.ts';

/** A body of `length` bytes, as Node itself makes sure that it is; throws when the connection ends before. */
export function readAnnounced(incoming: IncomingMessage, length: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // While a database was asked who sends it: it will not close again.
    if (incoming.destroyed) return reject(brokeOff());
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk));
    incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)));
    incoming.on('error', (cause) => reject(brokeOff(cause)));
    // It closes in any case; an error that nobody needs is dear to make.
    incoming.on('close', () => incoming.readableEnded || reject(brokeOff()));
  });
}
