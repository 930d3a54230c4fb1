// Proves that tests detect defects: each seeded defect must cause violations, and the original
// none.
import { describe, expect, it } from 'vitest';
import { archives } from './archives.ts';
import { authority } from './authority.ts';
import { binding } from './binding.ts';
import { crashes } from './crashes.ts';
import { guessing } from './guessing.ts';
import { http } from './http.ts';
import { instances } from './instances.ts';
import { intruders } from './intruders.ts';
import { origins } from './origins.ts';
import { rotations } from './rotations.ts';
import { starts } from './starts.ts';
import { time } from './time.ts';

const areas = [
  authority,
  archives,
  binding,
  origins,
  crashes,
  guessing,
  http,
  instances,
  intruders,
  rotations,
  starts,
  time,
];

describe.each(areas.flat())('$harness', ({ findInOriginal, defects }) => {
  it('finds nothing without a defect', async () => {
    expect(await findInOriginal()).toEqual([]);
  });

  it.each(defects)('finds: $defect', async ({ find }) => {
    expect(await find()).not.toEqual([]);
  });
});
