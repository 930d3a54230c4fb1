// Who claims to find defects is tried on some: each seeded defect must turn its own harness red,
// and the sound part must not.
import { describe, expect, it } from 'vitest';
import { areas } from './areas.ts';

for (const [area, seeded] of Object.entries(areas)) {
  describe(area, () => {
    it.each(seeded)('$harness finds: $defect', async ({ find, findInOriginal }) => {
      expect(await findInOriginal()).toEqual([]);
      expect(await find()).not.toEqual([]);
    });
  });
}
