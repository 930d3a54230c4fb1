import type { TvCheck } from './check.ts';
import { eventChecks } from './events.ts';

/** All checks, in the order of the report. */
export const allTvChecks: readonly TvCheck[] = [...eventChecks];
