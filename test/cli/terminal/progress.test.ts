import { describe, expect, it } from 'vitest';
import { escapedIo } from '../../../src/cli/terminal/io.ts';
import { progressBar, withProgress } from '../../../src/cli/terminal/progress.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

const common = { quiet: false };
const erase = '\r\u001b[K';

/** Shows one text, and returns what the terminal got. */
async function shown(text: string, options: Parameters<typeof fakeIo>[0]): Promise<string> {
  const io = fakeIo({ isTTY: true, ...options });
  const interrupted = new AbortController().signal;
  const environment = {
    io: escapedIo(io),
    clock: systemClock,
    random: systemRandom,
    interrupted,
    common,
  };
  await withProgress(environment, async (show) => show(text));
  return io.err();
}

describe('withProgress', () => {
  it('shows a line, and erases it', async () => {
    expect(await shown('Working', {})).toBe(`${erase}Working${erase}`);
  });

  it.each([
    ['a dumb terminal', { env: { TERM: 'dumb' } }],
    ['a pipe', { isTTY: false }],
  ])('shows nothing on %s', async (_, options) => {
    expect(await shown('Working', options)).toBe('');
  });
});

describe('progressBar', () => {
  it.each([
    [0, 3, '[                    ] 0 of 3'],
    [1, 3, '[######              ] 1 of 3'],
    [2000, 2000, '[####################] 2,000 of 2,000'],
  ])('draws %i of %i', (done, total, bar) => expect(progressBar(done, total)).toBe(bar));
});
