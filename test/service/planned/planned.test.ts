import { expect, it } from 'vitest';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import type { PastInputs } from '../../../src/domain/planned/rows.ts';
import { makePastPlanner } from '../../../src/service/planned/planned.ts';

it('reads each of many changes of a screen a few times only', () => {
  const count = 2000;
  let reads = 0;
  const change = (place: number): PastInputs => ({
    id: `${place}`,
    tenantId: 't',
    ownerId: 's',
    get stamp() {
      reads++;
      return (place + 1) * minuteMs;
    },
    get until() {
      reads++;
      return (place + 1) * minuteMs;
    },
    playlist: { contentId: `c${place % 2}`, validUntil: null },
  });
  const history = {
    present: {
      screen: { deviceId: 'd', hours: null, simulated: false },
      venue: undefined,
      own: undefined,
      ofVenue: undefined,
      playlist: null,
    },
    own: Array.from({ length: count }, (_, place) => change(place)),
    ofVenue: [],
  };
  const parts = [
    ...makePastPlanner('utc').parts(history, { fromMs: 0, untilMs: 2 * dayMs }),
  ].flat();
  const planned = (contentId: string) =>
    parts.reduce(
      (sum, part) => sum + (part.contentId === contentId ? part.untilMs - part.fromMs : 0),
      0,
    );
  expect(planned('c0')).toBe((count / 2) * minuteMs);
  expect(planned('c1')).toBe((count / 2) * minuteMs);
  expect(reads).toBeLessThan(50 * count);
});
