import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readFixedLength } from '../../../src/http/request/body.ts';

const brokenOff = expect.objectContaining({ code: 'invalid_json' });

describe('a body whose length was announced', () => {
  it('is whole, in however many parts it came', async () => {
    const incoming = new IncomingMessage(new Socket());
    const body = readFixedLength(incoming, 6);
    for (const part of ['ab', 'cd', 'ef', null]) incoming.push(part);
    expect(Buffer.from(await body).toString()).toBe('abcdef');
  });

  it('breaks off with its connection', async () => {
    const incoming = new IncomingMessage(new Socket());
    const body = readFixedLength(incoming, 6);
    incoming.push('ab');
    incoming.destroy();
    await expect(body).rejects.toEqual(brokenOff);
  });

  it('has broken off when its connection went before anybody read: while a database was asked who sends it', async () => {
    const incoming = new IncomingMessage(new Socket());
    incoming.destroy();
    await once(incoming, 'close');
    await expect(readFixedLength(incoming, 6)).rejects.toEqual(brokenOff);
  });
});
