import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pageQuery, waitSeconds } from '../../src/domain/paging.ts';
import { claimStatusQuery } from '../../src/domain/records/claim.ts';
import { deviceChangesQuery } from '../../src/domain/records/device-changes.ts';

const notDigits = ['1.5', '-1', 'abc', '', '1e1', '0x10', ' 5', '5 ', '+5', '5.0', '٥', '1_0'];

describe('waitSeconds', () => {
  const ofClaims = claimStatusQuery.shape.waitSeconds;
  const ofChanges = deviceChangesQuery.shape.waitSeconds;

  it.each([
    ['1 to 30', waitSeconds, 30],
    ['1 to 50 for claims', ofClaims, 50],
    ['1 to 600 for changes', ofChanges, 600],
  ])('is %s', (_, schema, most) => {
    for (const seconds of [1, most]) expect(schema.parse(`${seconds}`)).toBe(seconds);
    expect(schema.parse(undefined)).toBeUndefined();
    for (const wrong of ['0', `${most + 1}`, ...notDigits])
      expect(schema.safeParse(wrong).success, wrong).toBe(false);
  });
});

describe('limit', () => {
  const page = z.strictObject(pageQuery);

  it('is 1 to 200, and 50 by default', () => {
    for (const limit of [1, 200]) expect(page.parse({ limit: `${limit}` })).toEqual({ limit });
    expect(page.parse({})).toEqual({ limit: 50 });
    for (const limit of ['0', '201', '9'.repeat(400), ['5', '6']])
      expect(page.safeParse({ limit }).success, String(limit)).toBe(false);
  });

  it.each(notDigits)('is not "%s"', (limit) => {
    const { error } = page.safeParse({ limit });
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'must be a whole number, in digits only',
    ]);
  });
});

describe('the cursor of a request for changes', () => {
  it.each(['x', 'x'.repeat(64)])('may be %s', (after) => {
    expect(deviceChangesQuery.parse({ after })).toEqual({ after });
  });

  it.each(['', 'x'.repeat(65)])('may not be "%s"', (after) => {
    expect(deviceChangesQuery.safeParse({ after }).success).toBe(false);
  });
});
