import { describe, expect, it } from 'vitest';
import { waitSeconds } from '../../src/domain/paging.ts';
import { claimStatusQuery } from '../../src/domain/records/claim.ts';
import { deviceChangesQuery } from '../../src/domain/records/device-changes.ts';

describe('waitSeconds', () => {
  const ofClaims = claimStatusQuery.shape.waitSeconds;
  const ofChanges = deviceChangesQuery.shape.waitSeconds;

  it.each([
    ['1 to 30', waitSeconds, 30],
    ['1 to 50 for claims', ofClaims, 50],
    ['1 to 50 for changes', ofChanges, 50],
  ])('is %s', (_, schema, most) => {
    for (const seconds of [1, most]) expect(schema.parse(`${seconds}`)).toBe(seconds);
    expect(schema.parse(undefined)).toBeUndefined();
    for (const wrong of ['0', `${most + 1}`, '1.5', '-1', 'abc', ''])
      expect(schema.safeParse(wrong).success, wrong).toBe(false);
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
