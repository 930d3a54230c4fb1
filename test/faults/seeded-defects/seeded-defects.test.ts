// Proves that tests detect defects: each seeded defect must cause violations, and the original
// none.
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
