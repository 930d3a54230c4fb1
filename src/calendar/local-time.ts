import { Temporal } from 'temporal-polyfill';

/**
 * Returns the instant of a local time. A time that the clocks skip is the instant at which they do.
 * A time that comes twice is the first or the second one.
 */
export function instantOf(
  local: Temporal.PlainDateTime,
  timezone: string,
  which: 'earlier' | 'later',
): number {
  const found = local.toZonedDateTime(timezone, { disambiguation: which });
  if (found.toPlainDateTime().equals(local)) return found.epochMilliseconds;
  const before = local.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  return (before.getTimeZoneTransition('next') ?? found).epochMilliseconds;
}

/** Returns the local date at an instant. */
export function dateAt(timeMs: number, timezone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timezone).toPlainDate();
}
