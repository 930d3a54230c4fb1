import { describe, expect, it } from 'vitest';
import { checkPrecondition, isUnchanged, matchesWeakly } from '../../src/domain/etags/etag.ts';

const etag = '"a.1.2"';

describe('If-None-Match', () => {
  it.each([etag, `W/${etag}`, `"other" , ${etag},"another"`, '*', `"x", *`])(
    'matches the ETag with %s',
    (header) => expect(matchesWeakly(header, etag)).toBe(true),
  );

  it.each(['"other"', 'a.1.2', '"a.1."', '', undefined])(
    'does not match the ETag with %s',
    (header) => expect(matchesWeakly(header, etag)).toBe(false),
  );
});

const marked = ['"a.1.2-gzip"', '"a.1.2--br"', '"x", "a.1.2;gzip"', '"a.1.2:zstd"'];

it.each([...marked, 'W/"a.1.2-gzip"'])('If-None-Match matches %s of a proxy', (header) =>
  expect(matchesWeakly(header, etag)).toBe(true),
);

it.each(marked)('If-Match of a change matches %s of a proxy', (ifMatch) =>
  expect(() => checkPrecondition({ ifMatch }, etag)).not.toThrow(),
);

it('matches the suffix of an ETag that ends with a hyphen', () => {
  expect(matchesWeakly('"a--gzip"', '"a-"')).toBe(true);
  expect(() => checkPrecondition({ ifMatch: '"a--gzip"' }, '"a-"')).not.toThrow();
});

it.each(['"a.1.2-x"', 'W/"a.1.2"', '"a.1-gzip"', 'a.1.2-gzip'])(
  'If-Match of a change does not match %s',
  (ifMatch) => expect(() => checkPrecondition({ ifMatch }, etag)).toThrow('has changed'),
);

describe('If-Match', () => {
  it.each([etag, `"other" , ${etag},"another"`, '*', ' * '])('matches with %s', (ifMatch) => {
    expect(isUnchanged({ ifMatch }, etag)).toBe(false);
    expect(isUnchanged({ ifMatch, ifNoneMatch: '*' }, etag)).toBe(true);
  });

  it.each(['"other"', `W/${etag}`, ''])('is evaluated before If-None-Match: %s', (ifMatch) => {
    for (const ifNoneMatch of [undefined, '*', etag])
      expect(() => isUnchanged({ ifMatch, ifNoneMatch }, etag)).toThrow(
        expect.objectContaining({ code: 'precondition_failed' }),
      );
  });
});
