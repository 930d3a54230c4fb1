// Who claims to find bugs is tried on some: each planted bug must turn its own harness red, and the sound part must not.
import { describe, expect, it } from 'vitest';
import { areas } from './areas.ts';

for (const [area, planted] of Object.entries(areas)) {
  describe(area, () => {
    it.each(planted)('$harness finds: $bug', async ({ find, findInSound }) => {
      expect(await findInSound()).toEqual([]);
      expect(await find()).not.toEqual([]);
    });
  });
}
