import type { Screen } from '../../domain/records/rows.ts';
import type { Reader } from '../../store/store.ts';
import type { ScreenLayers } from './layers.ts';
import {
  activeTakeover,
  type Base,
  makePlanner,
  type Plan,
  type Planner,
  scheduleOf,
} from './plan.ts';

/** Whether a screen has or had a schedule or a takeover. Few screens do. */
export function hasLayers(layers: ScreenLayers, nowMs: number): boolean {
  return (
    layers.own?.delivered != null ||
    scheduleOf(layers) !== undefined ||
    activeTakeover(layers, nowMs) !== undefined
  );
}

let planner: Promise<Planner> | undefined;

/** Loads the calendar, which takes 5 MB, with the first schedule. */
export function loadPlanner(): Promise<Planner> {
  planner ??= import('../../calendar/schedule-spans.ts').then(({ scheduleSpans }) =>
    makePlanner(scheduleSpans),
  );
  return planner;
}

interface PlanRequest {
  layers: ScreenLayers;
  base: Base | undefined;
  nowMs: number;
}

/** Like `planOf`, for changes of the store: awaits nothing but `reader`. */
export async function planWith(
  planner: Planner,
  reader: Pick<Reader, 'get'>,
  { id, venueId }: Pick<Screen, 'id' | 'venueId'>,
  { layers, base, nowMs }: PlanRequest,
): Promise<Plan> {
  const venue = scheduleOf(layers) ? await reader.get('venues', venueId) : undefined;
  return planner(id, { layers, base, timezone: venue?.timezone ?? null, nowMs });
}

/** Returns the plan of a screen with layers. */
export async function planOf(
  reader: Pick<Reader, 'get'>,
  screen: Pick<Screen, 'id' | 'venueId'>,
  request: PlanRequest,
): Promise<Plan> {
  return planWith(await loadPlanner(), reader, screen, request);
}
