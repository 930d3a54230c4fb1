import { describe, expect, it } from 'vitest';
import { type PressedKey, watchKeys } from '../../../src/cli/terminal/keys.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

describe('watchKeys', () => {
  it('reports characters and named keys until it is stopped', async () => {
    const io = fakeIo({ isTTY: true });
    const keys: PressedKey[] = [];
    const stop = watchKeys(io, (key) => keys.push(key));
    for (const text of ['a', '大', '\u001b[B', '\u007f', '\u0001']) io.type(text);
    await expect.poll(() => keys).toHaveLength(4);
    expect(keys).toEqual([
      { text: 'a', name: 'a' },
      { text: '大', name: undefined },
      { text: undefined, name: 'down' },
      { text: undefined, name: 'backspace' },
    ]);
    stop();
    io.type('b');
    expect(keys).toHaveLength(4);
  });

  it('Ctrl-C interrupts', async () => {
    const io = fakeIo({ isTTY: true });
    let interruptions = 0;
    io.onSignal('SIGINT', () => interruptions++);
    const stop = watchKeys(io, () => {});
    io.type('\u0003');
    await expect.poll(() => interruptions).toBe(1);
    stop();
  });
});
