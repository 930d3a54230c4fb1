import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/domain/clock.ts';
import { SignageError } from '../../src/domain/error.ts';
import { makeCode } from '../../src/domain/records/pairing-code.ts';
import {
  codeInFragment,
  type Direction,
  formatCode,
  keys,
  neighbour,
} from '../../src/web/pairing/keypad.ts';
import { explainDelay, explainRequest, formatSeconds } from '../../src/web/pairing/messages.ts';
import { readRemoteKey } from '../../src/web/pairing/remote-keys.ts';
import { english } from '../../src/web/texts/english.ts';

const directions: Direction[] = ['left', 'right', 'up', 'down'];

/** Returns the smallest number of arrow presses between two keys. */
function distance(from: number, to: number): number {
  let reached = new Set([from]);
  for (let presses = 0; ; presses++) {
    if (reached.has(to)) return presses;
    const next = [...reached].flatMap((at) => directions.map((way) => neighbour(at, way)));
    reached = new Set([...reached, ...next]);
  }
}

describe('the keypad', () => {
  it('takes at most 60 presses of arrows and OK for any of 1,000 codes', () => {
    const presses = Array.from({ length: 1000 }, () => {
      let at = 0;
      let count = 0;
      for (const character of makeCode(systemRandom)) {
        const key = keys.indexOf(character);
        count += distance(at, key) + 1;
        at = key;
      }
      return count;
    });
    expect(Math.max(...presses)).toBeLessThanOrEqual(60);
  });

  it('continues at the opposite edge', () => {
    expect(keys[neighbour(0, 'left')]).toBe('H');
    expect(keys[neighbour(0, 'up')]).toBe('3');
    expect(keys[neighbour(keys.length - 1, 'right')]).toBe('3');
    expect(keys[neighbour(keys.length - 1, 'down')]).toBe('H');
  });
});

describe('keys of a remote control', () => {
  it.each([
    [37, '', { kind: 'move', direction: 'left' }],
    [13, 'Enter', { kind: 'ok' }],
    [461, '', { kind: 'back' }],
    [10_009, '', { kind: 'back' }],
    [0, 'GoBack', { kind: 'back' }],
    [53, '5', { kind: 'character', character: '5' }],
    [88, 'x', { kind: 'character', character: 'X' }],
    [32, ' ', { kind: 'space' }],
    [189, '-', { kind: 'separator' }],
    [112, 'F1', undefined],
  ])('%s %s', (keyCode, key, input) => expect(readRemoteKey({ key, keyCode })).toEqual(input));
});

it.each([
  ['#ABCD2345', 'ABCD2345'],
  ['#abcd-2345', 'ABCD2345'],
  ['#ABCD%202345', 'ABCD2345'],
  ['#ABCD%E2%80%932345', 'ABCD2345'],
  ['#ABCD2340', undefined],
  ['#ABCD', undefined],
  ['', undefined],
])('the code in the fragment %s is %s', (fragment, code) =>
  expect(codeInFragment(fragment)).toBe(code),
);

describe('messages', () => {
  it('name the code that was refused', () => {
    const error = new SignageError('pairing_code_expired', 'gone');
    expect(explainRequest('refused', error, formatCode('ABCD2345'))(english)).toBe(
      'The code ABCD-2345 has expired. Ask for a new one.',
    );
    expect(explainRequest('revoked', undefined, '')(english)).toContain('was removed');
  });

  it('use the text of the service for other errors', () => {
    expect(explainDelay(new SignageError('internal_error', 'It broke.'))(english)).toBe(
      'It broke.',
    );
  });

  it.each([
    [1, '1 second'],
    [59, '59 seconds'],
    [125, '2:05 minutes'],
  ])('%s s is %s', (seconds, text) => expect(formatSeconds(english, seconds)).toBe(text));
});
