import { TestClock, testClock } from '../../../src/testing/test-clock.ts';

/** The clock of `signage-kit/testing`, with its default start. */
export class ManualClock extends TestClock {
  constructor(startMs = testClock().now()) {
    super(startMs);
  }
}
