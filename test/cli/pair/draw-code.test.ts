import { describe, expect, it } from 'vitest';
import { blockLetters } from '../../../src/cli/terminal/draw-code.ts';
import { codeAlphabet, groupedCode } from '../../../src/domain/typed-code.ts';

describe('block letters', () => {
  it('are grouped', () => expect(groupedCode('ABCD2345')).toBe('ABCD-2345'));

  it('have one glyph of equal size for every character', () => {
    const drawn = [...codeAlphabet].map((character) =>
      (blockLetters(`${character.repeat(8)}`, 80) ?? []).map((line) => line.slice(0, 5)).join('\n'),
    );
    expect(new Set(drawn).size).toBe(codeAlphabet.length);
    for (const letter of drawn) expect(letter).toMatch(/^(?:[ █▀▄]{5}\n?){4}$/);
    for (const letter of drawn) expect(letter).toMatch(/[█▀▄]/);
  });

  it('look like this', () => {
    expect(blockLetters('AH234567', 80)?.map((line) => line.slice(0, 23).trimEnd())).toEqual([
      '▄▀▀▀▄ █   █ ▄▀▀▀▄ ▀▀▀█▀',
      '█▄▄▄█ █▄▄▄█    ▄▀   ▀▄',
      '█   █ █   █  ▄▀   ▄   █',
      '▀   ▀ ▀   ▀ ▀▀▀▀▀  ▀▀▀',
    ]);
  });

  it.each([
    [80, 4],
    [50, 4],
    [49, 9],
    [39, 9],
    [23, 9],
    [22, undefined],
  ])('take no more than %i columns', (columns, lines) => {
    const drawn = blockLetters('ABCD2345', columns);
    expect(drawn?.length).toBe(lines);
    for (const line of drawn ?? []) expect(line.length).toBeLessThanOrEqual(columns);
  });

  it.each(['ABCD234', 'ABCD234O', 'EVIL\u001b[2J', ''])('are not made of %j', (code) =>
    expect(blockLetters(code, 80)).toBeUndefined(),
  );
});
