import { describe, expect, it } from 'vitest';
import { readClaim, readCode } from '../../../src/cli/input/pairing-code.ts';
import { groupedCode } from '../../../src/domain/typed-code.ts';

describe('spelling of pairing codes', () => {
  it.each([
    'ABCD2345',
    'abcd2345',
    'ABCD 2345',
    'abcd-2345',
    ' Ab cd–23 45\n',
    'ABCD‑2345',
    'A.B.C.D.2345',
  ])('%j is read as ABCD2345', (text) => {
    expect(readCode(text)).toBe('ABCD2345');
  });

  it.each(['', 'ABCD234', 'ABCD23456', 'ABCD/345', '../../me', 'ABCDÄ345', 'ABCDſ345'])(
    '%j is rejected, and not repeated in the message',
    (text) => {
      expect(() => readCode(text)).toThrow(/8 letters and digits/);
      expect(() => readCode(text)).not.toThrow(text || /""/);
    },
  );

  it.each(['K7Q2MX', 'k7q2-mx', 'K7Q 2MX', ' k7 q2 mx\n'])('%j is the claim K7Q2MX', (text) => {
    expect(readClaim(text)).toBe('K7Q2MX');
  });

  it.each(['', 'K7Q2M', '../../me', 'K7Q2MÄ'])('%j is not a claim', (text) => {
    expect(() => readClaim(text)).toThrow(/6 letters and digits/);
  });

  it('is shown in two groups', () => {
    expect(groupedCode('K7Q2MX')).toBe('K7Q-2MX');
    expect(groupedCode('ABCD2345')).toBe('ABCD-2345');
    expect(groupedCode('\u001b[2J')).toBe('\u001b[2J');
  });
});
