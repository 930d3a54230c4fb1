import { archives } from './archives.ts';
import { authority } from './authority.ts';
import { binding } from './binding.ts';
import { planted as crashes } from './crashes.ts';
import { guessing } from './guessing.ts';
import { planted as http } from './http.ts';
import { planted as instances } from './instances.ts';
import { planted as intruders } from './intruders.ts';
import { origins } from './origins.ts';
import { rotations } from './rotations.ts';
import type { Planted } from './seeded-defect.ts';
import { starts } from './starts.ts';

/** All planted bugs, by the area that they are in. */
export const areas: Record<string, readonly Planted[]> = {
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
