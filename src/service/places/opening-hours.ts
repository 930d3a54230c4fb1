import { SignageError } from '../../domain/error.ts';
import type { HoursExceptions, OpeningHours } from '../../domain/hours/hours-text.ts';
import type { Screen, Venue } from '../../domain/records/rows.ts';

/** Hours as rows have them: without exceptions, the member is missing. */
type Stored = Pick<Venue, 'hours'> & { hoursExceptions?: HoursExceptions | null | undefined };

/** Whether times of day or dates are given, which a time zone gives a meaning. */
export function hasLocalTimes({ hours, hoursExceptions }: Stored): boolean {
  return (hours?.length ?? 0) > 0 || (hoursExceptions?.length ?? 0) > 0;
}

/** Throws `timezone_required` if hours have no time zone that says what they mean. */
export function requireTimezone({ timezone }: Pick<Venue, 'timezone'>, given: Stored): void {
  if (timezone !== null || !hasLocalTimes(given)) return;
  throw new SignageError(
    'timezone_required',
    'Opening hours are local times, and the venue has no time zone: set its timezone first.',
  );
}

/**
 * Returns the hours of a screen: its own, or else those of its venue (docs/protocol.md §5.3). A
 * screen that is always on has no exceptions but its own.
 */
export function hoursOf(
  { hours, hoursExceptions }: Pick<Screen, 'hours' | 'hoursExceptions'>,
  venue: Stored | undefined,
): OpeningHours {
  const inherited = hours?.length === 0 ? undefined : venue?.hoursExceptions;
  return {
    hours: hours ?? venue?.hours ?? null,
    hoursExceptions: hoursExceptions ?? inherited ?? null,
  };
}
