import type { CallAnswer } from '../../../client/call.ts';
import { readSchedule, type ScheduleBody } from '../../content/schedule-document.ts';
import { examineFirst } from '../../examination/examine-first.ts';
import { waitForGlass, waitMsOf } from '../../glass/glass-wait.ts';
import { usage } from '../../input/settings.ts';
import { type ReadZone, shownEpoch } from '../../input/time.ts';
import { type Column, members, type View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { findVenue } from '../../records/find.ts';
import { forEachRecord } from '../../records/for-each-record.ts';
import { confirmDestroyed, confirmSelected, selectScreens } from '../../records/select-screens.ts';
import { isData } from '../../terminal/format.ts';
import { memoize } from '../../terminal/memoize.ts';
import { noteZone, readVenueTimes, type VenueTimes } from '../../times/venue-times.ts';
import { zoneOfVenues } from '../../times/venue-zone.ts';
import { readOwnSchedule, requireOwner, type ScheduleOwner } from './schedule-owner.ts';

type Stored = Awaited<ReturnType<typeof readOwnSchedule>>;
type Entry = Stored['entries'][number] & { entryId: string };

/** In CSV, instants are in UTC. */
const columns = ({ plain }: VenueTimes): Column<Entry>[] => [
  ...members<Entry>('entryId'),
  { name: 'days', value: ({ days }) => days },
  {
    name: 'from',
    value: ({ from, at }) => from ?? shownEpoch(at),
    shown: ({ from, at }) => from ?? (at && plain(at * 1000)),
  },
  {
    name: 'to',
    value: ({ to, until }) => to ?? shownEpoch(until),
    shown: ({ to, until }) => to ?? (until && plain(until * 1000)),
  },
  {
    name: 'dates',
    value: ({ dates }) => dates && `${dates.from ?? ''}–${dates.until ?? ''}`,
  },
  { name: 'items', value: ({ items }) => items?.length ?? 'base' },
];
const entryView = (times: VenueTimes): View<Entry> => ({
  columns: columns(times),
  nameOf: ({ entryId }) => entryId,
});

type Venue = Pick<CallAnswer<'getVenue'>, 'id' | 'name'>;

/** Prints a schedule: data as received, and a table of its entries with the zone of its times. */
async function printSchedule(
  call: CommandContext,
  schedule: Stored,
  venueId: string,
): Promise<void> {
  const { output, jq } = call.common;
  if (isData(output) || jq !== undefined)
    return call.results.record(schedule, { columns: [], nameOf: () => '' });
  if (schedule.entries.length === 0)
    return call.note('No entries: the playlist of the screen plays, whatever its venue has.');
  const entries = schedule.entries.map((entry, place) => ({
    entryId: entry.name ?? `entry-${place + 1}`,
    ...entry,
  }));
  const times = await readVenueTimes(call, venueId);
  await call.results.list([entries], entryView(times));
  noteZone(call, times.timezone);
}

const put = (
  call: CommandContext,
  { level, id }: Pick<ScheduleOwner, 'level' | 'id'>,
  body: ScheduleBody,
) =>
  call.change(level === 'screen' ? 'putScreenSchedule' : 'putVenueSchedule', {
    params: { id },
    body,
  });

/** Returns the venues whose own schedule is meant. Empty: screens are meant. */
async function chosenVenues(
  call: CommandContext,
  names: readonly string[],
): Promise<readonly Venue[]> {
  const { venue, selector } = call.options;
  if (venue.length === 0 || selector.length > 0) return [];
  if (call.options.all) throw usage('--all means all screens: leave out --venue.');
  if (names.length > 0) throw usage('Name screens, or a venue with --venue, but not both.');
  const found = new Map<string, Venue>();
  for (const one of venue) {
    const { id, name } = await findVenue(call, one);
    found.set(id, { id, name });
  }
  return [...found.values()];
}

/** Returns the schedule of `--file`, or the empty one of `--base`. */
async function readGiven(
  call: CommandContext,
  readZone: ReadZone,
): Promise<{ body: ScheduleBody; upload: () => Promise<void> }> {
  const { file, base } = call.options;
  if (base && file !== undefined) throw usage('Give --file or --base, but not both.');
  if (base) return { body: { entries: [] }, upload: async () => {} };
  if (file === undefined) throw usage('Give a schedule with --file, or --base.');
  const { body, files } = await readSchedule(call, file, call.options, readZone);
  await examineFirst(
    call,
    body.entries.flatMap(({ items }) => items ?? []),
  );
  return { body, upload: () => files.upload(call, body.entries) };
}

const due = 'what the schedule says';

/** Waits for all screens of the venues, also for those with a schedule of their own. */
async function waitForVenues(call: CommandContext, venues: readonly Venue[]): Promise<void> {
  if (waitMsOf(call) === undefined) return;
  const screens: Parameters<typeof waitForGlass>[1][number][] = [];
  for (const { id: venueId, name } of venues)
    for (const screen of await call.all('listScreens', { query: { venueId } }))
      screens.push({ id: screen.id, name: `${name}/${screen.name}`, screen });
  await waitForGlass(call, screens, due);
}

/** Runs `signage schedule set`. */
export async function runSetSchedule(call: CommandContext): Promise<number | undefined> {
  const names: readonly string[] = call.args.screens;
  const choose = memoize(() => chosenVenues(call, names));
  const select = memoize(() => selectScreens(call, names));
  const readZone = zoneOfVenues(call, async () => {
    const chosen = await choose();
    if (chosen.length > 0) return chosen.map(({ id }) => id);
    return (await select()).screens.map(({ screen }) => screen.venueId);
  });
  const { body, upload } = await readGiven(call, readZone);
  const venues = await choose();
  const [venue, ...others] = venues;
  if (venue) {
    if (call.options.base)
      throw usage(
        '--base is for screens.',
        'To remove the schedule of a venue: signage schedule clear --venue VENUE',
      );
    await upload();
    const putOn = ({ id }: Venue) => put(call, { level: 'venue', id }, body);
    if (others.length > 0) {
      const exitCode = await forEachRecord(
        call,
        venues,
        async (one) => (await putOn(one)) && 'set',
      );
      if (!exitCode) await waitForVenues(call, venues);
      return exitCode;
    }
    const made = await putOn(venue);
    if (!made) return undefined;
    await printSchedule(call, made.answer, venue.id);
    await waitForVenues(call, venues);
    return undefined;
  }
  const { screens, single } = await select();
  if (single) {
    await upload();
    const made = await put(call, { level: 'screen', id: single.id }, body);
    if (!made) return undefined;
    await printSchedule(call, made.answer, single.screen.venueId);
    await waitForGlass(call, screens, due);
    return undefined;
  }
  await confirmSelected(call, 'Set the schedule of', screens);
  await upload();
  const exitCode = await forEachRecord(
    call,
    screens,
    async ({ id }) => (await put(call, { level: 'screen', id }, body)) && 'set',
  );
  if (!exitCode) await waitForGlass(call, screens, due);
  return exitCode;
}

/** Runs `signage schedule get`. */
export async function runGetSchedule(call: CommandContext): Promise<void> {
  const owner = await requireOwner(call);
  await printSchedule(call, await readOwnSchedule(call, owner), owner.venueId);
}

/** Runs `signage schedule clear`. */
export async function runClearSchedule(call: CommandContext): Promise<number | undefined> {
  const names: readonly string[] = call.args.screens;
  const remove = (level: ScheduleOwner['level'], id: string) =>
    call.change(level === 'screen' ? 'deleteScreenSchedule' : 'deleteVenueSchedule', {
      params: { id },
    });
  // Removing nothing succeeds, too, and would hide a mistake.
  const requireStored = async (level: ScheduleOwner['level'], id: string) => {
    if (!call.common.dryRun) await readOwnSchedule(call, { level, id });
  };
  const venues = await chosenVenues(call, names);
  const [venue, ...others] = venues;
  if (venue) {
    for (const { id } of venues) await requireStored('venue', id);
    const quoted = venues.map(({ name }) => `"${name}"`).join(', ');
    await call.confirmDestruction(
      others.length > 0
        ? `Remove the schedules of the venues ${quoted}?`
        : `Remove the schedule of the venue ${quoted}?`,
    );
    if (others.length > 0)
      return forEachRecord(
        call,
        venues,
        async ({ id }) => (await remove('venue', id)) && 'cleared',
      );
    if (await remove('venue', venue.id)) call.note(`Removed the schedule of the venue ${quoted}.`);
    return undefined;
  }
  const { screens, single } = await selectScreens(call, names);
  if (single) {
    await requireStored('screen', single.id);
    await call.confirmDestruction(`Remove the schedule of "${single.name}"?`);
    if (await remove('screen', single.id)) call.note(`Removed the schedule of "${single.name}".`);
    return undefined;
  }
  await confirmDestroyed(call, 'Remove the schedules of', screens);
  return forEachRecord(call, screens, async ({ id }) => (await remove('screen', id)) && 'cleared');
}
