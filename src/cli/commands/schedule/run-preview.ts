import { dateOf, localClock } from '../../../calendar/local-clock.ts';
import { type Span, scheduleSpans } from '../../../calendar/schedule-spans.ts';
import { dayMs } from '../../../domain/clock.ts';
import type { NamedTimes } from '../../../domain/schedule/entry-times.ts';
import { entryIdOf, needsTimezone } from '../../../domain/schedule/entry-times.ts';
import { readSchedule, type WrittenSchedule } from '../../content/schedule-document.ts';
import { usage } from '../../input/settings.ts';
import type { ReadZone } from '../../input/time.ts';
import { members, type View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { makePalette } from '../../terminal/colours.ts';
import { isForPeople } from '../../terminal/format.ts';
import { memoize } from '../../terminal/memoize.ts';
import { noteZone } from '../../times/venue-times.ts';
import { zoneOfVenues } from '../../times/venue-zone.ts';
import { drawWeek } from './draw-week.ts';
import { findMedia } from './media-findings.ts';
import { checkSchedule, type ScheduleFinding } from './schedule-findings.ts';
import {
  findOwner,
  readFollowedSchedule,
  readVenue,
  type ScheduleOwner,
} from './schedule-owner.ts';

/** A schedule to look at, from a file or from the service. */
interface Shown {
  entries: readonly NamedTimes[];
  /** `null`: the venue has none, or none was given. */
  timezone: string | null;
  /** `undefined`: no venue was named. */
  venue: string | undefined;
  /** Examines the media of the entries. */
  media(): Promise<ScheduleFinding[]>;
}

function readTimezone(text: string | undefined): string | null {
  if (text === undefined) return null;
  try {
    localClock(text, 0, 0);
    return text;
  } catch {
    throw usage(`--timezone must be an IANA time zone such as Europe/Berlin, not "${text}".`);
  }
}

interface GivenSchedule {
  written: WrittenSchedule | undefined;
  owner: ScheduleOwner | undefined;
  /** The zone of `--timezone`. */
  given: string | null;
}

/** Reads the schedule that `--file`, a screen or `--venue` names. */
async function readShown(call: CommandContext): Promise<Shown> {
  const { file, timezone } = call.options;
  const given = readTimezone(timezone);
  const owner = memoize(() => findOwner(call));
  const zoneOfOwner = zoneOfVenues(call, async () => {
    const found = await owner();
    return found ? [found.venueId] : [];
  });
  const readZone: ReadZone = async (...text) => given ?? zoneOfOwner(...text);
  const written =
    file === undefined
      ? undefined
      : await readSchedule(call, file, { ...call.options, force: true }, readZone);
  return shownOf(call, { written, owner: await owner(), given });
}

async function shownOf(
  call: CommandContext,
  { written, owner, given }: GivenSchedule,
): Promise<Shown> {
  if (!written && !owner) throw usage('Give a file with --file, or name a screen or --venue.');
  const venue = owner && (await readVenue(call, owner));
  const zone = given ?? venue?.timezone ?? null;
  const shown = { timezone: zone, venue: venue?.name };
  if (written) {
    const media = () => findMedia(call, written.body.entries, written.files);
    return { ...shown, entries: written.times, media };
  }
  const { entries } = await readFollowedSchedule(call, owner as NonNullable<typeof owner>);
  const stored = entries.map(
    ({ at, until, ...entry }): NamedTimes => ({
      ...entry,
      ...(at !== undefined && { at: at * 1000 }),
      ...(until !== undefined && { until: until * 1000 }),
    }),
  );
  return { ...shown, entries: stored, media: () => findMedia(call, entries, undefined) };
}

const marks = { error: 'fail', warning: 'warn', info: 'ok' } as const;

const findingView: View<ScheduleFinding> = {
  columns: members<ScheduleFinding>('level', 'entry', 'problem', 'detail'),
  marked: ({ level, entry, detail }) => ({
    mark: marks[level],
    text: entry === null ? detail : `${entry}: ${detail}`,
    next: null,
  }),
  nameOf: ({ entry, problem }) => entry ?? problem,
};

/** Runs `signage schedule check`. Returns the exit code. */
export async function runCheckSchedule(call: CommandContext): Promise<number> {
  const shown = await readShown(call);
  const media = await shown.media();
  const findings = checkSchedule({ ...shown, media, nowMs: call.clock.now() });
  await call.results.list([findings], findingView);
  noteZone(call, shown.timezone);
  if (shown.timezone === null && shown.venue === undefined && shown.entries.some(needsTimezone))
    call.note('Checked in UTC: --timezone names another time zone.');
  return findings.some(({ level }) => level === 'error') ? failedExitCode : 0;
}

interface ShownSpan {
  from: string;
  until: string;
  /** `null`: the playlist of the screen. */
  entryId: string | null;
}

const spanView: View<ShownSpan> = {
  columns: members<ShownSpan>('from', 'until', 'entryId'),
  nameOf: ({ entryId }) => entryId ?? 'base',
};

const shownSpan =
  (entries: readonly NamedTimes[]) =>
  ({ fromMs, untilMs, place }: Span): ShownSpan => ({
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    entryId: place === null || entries[place]?.base ? null : entryIdOf(entries[place] ?? {}, place),
  });

/** Width of a picture that is not shown at a terminal. */
const plainWidth = 80;

/** Runs `signage schedule preview`. */
export async function runPreview(call: CommandContext): Promise<void> {
  const { from, days } = call.options;
  const { entries, timezone, venue } = await readShown(call);
  const zone = timezone ?? 'UTC';
  const nowMs = call.clock.now();
  const firstDay =
    from === undefined ? localClock(zone, nowMs, nowMs).dayAt(nowMs) : Date.parse(from) / dayMs;
  if (!isForPeople(call.common.output) || call.common.jq !== undefined) {
    const clock = localClock(zone, firstDay * dayMs, (firstDay + days) * dayMs);
    const range = {
      fromMs: clock.instantOf(firstDay, 0, 'earlier'),
      untilMs: clock.instantOf(firstDay + days, 0, 'earlier'),
    };
    const spans = scheduleSpans(entries, zone, range).map(shownSpan(entries));
    await call.results.list([spans], spanView);
    return;
  }
  const { stdout } = call.io;
  const width = (stdout.isTTY ? stdout.columns : undefined) ?? plainWidth;
  const paint = await makePalette(call.io, stdout);
  const lines = drawWeek({
    ...{ entries, timezone: zone, firstDay, days, width, paint },
  });
  stdout.write(`${dateOf(firstDay).slice(0, 4)}, ${zone}\n${lines.join('\n')}\n`);
  if (timezone !== null || !entries.some(needsTimezone)) return;
  call.note(
    venue === undefined
      ? 'Drawn in UTC: --timezone names another time zone.'
      : `Drawn in UTC: the venue "${venue}" has no time zone.`,
  );
}
