import { archives } from './archives.ts';
import { authority } from './authority.ts';
import { binding } from './binding.ts';
import { crashDefects as crashes } from './crashes.ts';
import { guessing } from './guessing.ts';
import { http } from './http.ts';
import { instances } from './instances.ts';
import { intruders } from './intruders.ts';
import { origins } from './origins.ts';
import { rotations } from './rotations.ts';
import type { SeededDefect } from './seeded-defect.ts';
import { starts } from './starts.ts';

/** All seeded defects by area. */
export const areas: Record<string, readonly SeededDefect[]> = {
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
};
