import { describe, expect, it } from 'vitest';
import {
  listAssignments,
  mergeConfigTrees,
  readAssignment,
  readPath,
  withoutKey,
} from '../../../src/cli/input/config-path.ts';

describe('readAssignment', () => {
  it.each([
    ['a=1', { a: 1 }],
    ['a=true', { a: true }],
    ['a=null', { a: null }],
    ['a=', { a: '' }],
    ['a=hello=world', { a: 'hello=world' }],
    ['a="5"', { a: '5' }],
    ['a=[1,"x"]', { a: [1, 'x'] }],
    ['a={"b":1}', { a: { b: 1 } }],
    ['a.b.c=1', { a: { b: { c: 1 } } }],
    ['a\\.b=1', { 'a.b': 1 }],
    // As a number, these would be written in another way.
    ['appVersion=1.10', { appVersion: '1.10' }],
    ['pin=0042', { pin: '0042' }],
    ['a=1e5', { a: '1e5' }],
    ['a=9007199254740993', { a: '9007199254740993' }],
    ['a=-5', { a: -5 }],
    ['a=0.1', { a: 0.1 }],
  ])('parses %s', (text, settings) => expect(readAssignment(text)).toEqual(settings));

  it.each(['a', '=1', 'a..b=1', '.a=1', 'a.=1', 'a={"id":9007199254740993}'])(
    'rejects %s',
    (text) => {
      expect(() => readAssignment(text)).toThrowError(expect.objectContaining({ code: 'usage' }));
    },
  );

  // What PowerShell and cmd leave of JSON.
  it.each([
    'player={fit:cover}',
    'a=[x]',
    'a="open',
    '{player:{fit:cover}}',
    "'{player:{fit:cover}}'",
    '{url:http://x/?a=b}',
  ])('refuses %s, and names the shell that removed its quotes', (text) => {
    expect(() => readAssignment(text)).toThrowError(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringContaining('your shell removed the quotes'),
      }),
    );
  });

  it('says how to write JSON that is given instead of key=value', () =>
    expect(() => readAssignment('{"player":{"fit":"cover"}}')).toThrowError(/key=value/));

  it('parses __proto__ as an ordinary key', () => {
    const merged = mergeConfigTrees({ a: 1 }, readAssignment('__proto__.polluted=true'));
    expect(JSON.stringify(merged)).toBe('{"a":1,"__proto__":{"polluted":true}}');
    expect({}).not.toHaveProperty('polluted');
  });
});

it('mergeConfigTrees merges objects, and replaces all other values', () => {
  expect(
    mergeConfigTrees({ a: { b: 1, c: [1, 2] }, d: 1 }, { a: { c: [3] }, d: { e: 1 } }),
  ).toEqual({
    a: { b: 1, c: [3] },
    d: { e: 1 },
  });
});

it.each(['[A] Lobby', '10', '1.10', 'true', '{x', '"quoted"', 'plain'])(
  'listAssignments writes the text %s so that readAssignment reads it back',
  (text) => {
    const [{ key, value }] = listAssignments({ a: text }) as [{ key: string; value: string }];
    expect(readAssignment(`${key}=${value}`)).toEqual({ a: text });
  },
);

describe('withoutKey', () => {
  const settings = { a: 1, b: { c: 1, d: 2 }, e: { f: { g: 1 } } };
  it.each([
    ['a', { b: { c: 1, d: 2 }, e: { f: { g: 1 } } }],
    ['b.c', { a: 1, b: { d: 2 }, e: { f: { g: 1 } } }],
    ['e.f.g', { a: 1, b: { c: 1, d: 2 } }],
    ['b', { a: 1, e: { f: { g: 1 } } }],
    ['x', undefined],
    ['a.x', undefined],
    ['b.x', undefined],
    ['toString', undefined],
  ])('removes %s', (key, left) => expect(withoutKey(settings, readPath(key))).toEqual(left));
});

it('listAssignments returns each key as config set takes it', () => {
  expect(listAssignments({ a: 1, b: { c: 'x', d: {}, 'e.f': null }, g: [1] })).toEqual([
    { key: 'a', value: '1' },
    { key: 'b.c', value: 'x' },
    { key: 'b.d', value: '{}' },
    { key: 'b.e\\.f', value: 'null' },
    { key: 'g', value: '[1]' },
  ]);
});
