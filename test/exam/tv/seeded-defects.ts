import { expectedFailures } from '../../support/runtime/expected-failures.ts';
import { eventDefects, numberingDefects } from './event-defects.ts';
import { playingDefects } from './playing-defects.ts';
import { requestDefects } from './request-defects.ts';
import type { Defects, SeededDefect } from './seeded-defect.ts';

const defects: Defects = {
  ...requestDefects,
  ...eventDefects,
  ...numberingDefects,
  ...playingDefects,
};
const failsOf = expectedFailures('tv');

/** All defects. Each name completes the sentence "A TV that …". */
export const seededDefects: Readonly<Record<string, SeededDefect>> = Object.fromEntries(
  Object.entries(defects).map(([name, defect]) => [name, { ...defect, fails: failsOf(name) }]),
);
