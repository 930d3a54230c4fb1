import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readFixedLength } from '../../../src/http/request/body.ts';

const brokenOff = expect.objectContaining({ code: 'invalid_json' });

describe('readFixedLength', () => {
  it('returns the whole body, in any number of chunks', async () => {
    const incoming = new IncomingMessage(new Socket());
    const body = readFixedLength(incoming, 6);
    for (const part of ['ab', 'cd', 'ef', null]) incoming.push(part);
    expect(Buffer.from(await body).toString()).toBe('abcdef');
  });

  it('rejects when the connection closes', async () => {
    const incoming = new IncomingMessage(new Socket());
    const body = readFixedLength(incoming, 6);
    incoming.push('ab');
    incoming.destroy();
    await expect(body).rejects.toEqual(brokenOff);
  });

  it('rejects when the connection closed before the read, as during a credential look-up', async () => {
    const incoming = new IncomingMessage(new Socket());
    incoming.destroy();
    await once(incoming, 'close');
    await expect(readFixedLength(incoming, 6)).rejects.toEqual(brokenOff);
  });
});
