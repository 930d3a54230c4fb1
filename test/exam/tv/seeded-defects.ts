import { eventDefects, numberingDefects } from './event-defects.ts';
import { playingDefects } from './playing-defects.ts';
import { requestDefects } from './request-defects.ts';
import type { SeededDefect } from './seeded-defect.ts';

/** All defects. Each name completes the sentence "A TV that …". */
export const seededDefects: Readonly<Record<string, SeededDefect>> = {
  ...requestDefects,
  ...eventDefects,
  ...numberingDefects,
  ...playingDefects,
};
