import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesSelector, parseSelector } from '../../src/domain/selector.ts';

const screen = { role: 'menu', floor: '2', city: 'Kumasi', beta: '', note: 'a (b) = c' };
const venue = { city: 'Accra' };
const isMatch = (text: string) => matchesSelector(parseSelector(text), screen, venue);

describe('a selector', () => {
  it.each([
    'role=menu',
    'role==menu',
    'role = menu',
    'role=menu,floor=2',
    ' role=menu , floor = 2 ',
    'city in (Accra,Kumasi)',
    'city in(Accra, Kumasi)',
    'city notin (Accra,Tamale)',
    'missing notin (Accra)',
    'missing!=menu',
    'floor!=3',
    'beta',
    'beta=',
    'beta in ()',
    '!missing',
    '! missing',
    'venue:city=Accra',
    '!venue:role',
    'venue:city in (Accra),city=Kumasi',
    'role=menu,city in (Accra,Kumasi),floor!=1,!test,beta',
  ])('%j matches', (text) => expect(isMatch(text)).toBe(true));

  it.each([
    'role=Menu',
    'role!=menu',
    'city in (Accra)',
    'city notin (Accra,Kumasi)',
    'missing in (Accra)',
    'missing',
    'missing=',
    '!beta',
    'venue:city=Kumasi',
    'venue:role',
    'role=menu,floor=3',
    'toString',
    '__proto__',
  ])('%j does not match', (text) => expect(isMatch(text)).toBe(false));

  it('with a single key=value takes any characters of the value', () => {
    expect(isMatch('note=a (b) = c')).toBe(true);
    const [only] = parseSelector('my key= in (a) ');
    expect(only).toEqual({ of: 'screen', key: 'my key', values: [' in (a) '], negated: false });
  });

  it('takes values of several words', () => {
    const [only] = parseSelector('city in ( New  York , Rio )');
    expect(only?.values).toEqual(['New  York', 'Rio']);
  });

  it('takes keys that are words of the grammar', () => {
    expect(parseSelector('in in (in),notin notin (in)').map(({ key }) => key)).toEqual([
      'in',
      'notin',
    ]);
  });

  it.each([
    ['', 1, 'a label is missing'],
    [' ', 2, 'a label is missing'],
    ['role=menu,', 11, 'a label is missing'],
    ['role=menu,,beta', 11, 'a label is missing before ","'],
    ['=menu', 1, 'a label is missing before "="'],
    ['!', 2, 'a label is missing'],
    ['role menu', 6, 'before "menu"'],
    ['role=menu,city in Accra', 19, '"("'],
    ['city in (Accra', 15, '")"'],
    ['city in (Accra(', 15, '")"'],
    ['city in (Accra) beta', 17, '","'],
    ['role=menu,floor!=2=3', 19, '","'],
    ['!role=menu', 6, '","'],
    ['floor>2,beta=1', 6, '">"'],
    ['place:city=Accra', 1, '"place:city"'],
    ['beta,venue:=Accra', 6, '"venue:"'],
    ['city=\ufffd', 6, 'cannot be selected'],
    ['city=\0', 6, 'cannot be selected'],
    [`city=${'x'.repeat(2000)}`, 2001, '2000 characters'],
  ])('%j is refused at column %i', (text, column, why) => {
    const message = expect.stringMatching(new RegExp(`^column ${column}: `));
    expect(() => parseSelector(text)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message }),
    );
    expect(() => parseSelector(text)).toThrow(why);
  });

  it('is parsed or refused with a column, whatever the text', () => {
    const texts = fc.array(
      fc.constantFrom('a', 'in', 'notin', '(', ')', ',', '=', '!', ' ', 'venue:', '😀', '<'),
    );
    fc.assert(
      fc.property(texts, (parts) => {
        try {
          expect(parseSelector(parts.join('')).length).toBeGreaterThan(0);
        } catch (error) {
          expect((error as Error).message).toMatch(/^column \d+: /);
        }
      }),
    );
  });
});
