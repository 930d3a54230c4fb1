import { describe, expect, it } from 'vitest';
import { isUnchanged, matchesWeakly } from '../../src/domain/etag.ts';

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
