import type { CommandContext } from '../command/context.ts';
import { forEachRecord } from '../command/for-each-record.ts';
import { isData } from '../options/format.ts';
import { confirmDestroyed, confirmSelected, selectScreens } from '../options/select-screens.ts';
import { usage } from '../options/settings.ts';
import { shownEpoch } from '../options/time.ts';
import { type Column, members, type View } from '../output/view.ts';
import { findVenue } from '../records/find.ts';
import { readSchedule, type ScheduleBody } from './schedule-document.ts';
import { readOwnSchedule, requireOwner, type ScheduleOwner } from './schedule-owner.ts';

type Stored = Awaited<ReturnType<typeof readOwnSchedule>>;
type Entry = Stored['entries'][number] & { entryId: string };

const columns: Column<Entry>[] = [
  ...members<Entry>('entryId'),
  { name: 'days', value: ({ days }) => days },
  { name: 'from', value: ({ from, at }) => from ?? shownEpoch(at) },
  { name: 'to', value: ({ to, until }) => to ?? shownEpoch(until) },
  {
    name: 'dates',
    value: ({ dates }) => dates && `${dates.from ?? ''}–${dates.until ?? ''}`,
  },
  { name: 'items', value: ({ items }) => items.length },
];
const entryView: View<Entry> = { columns, nameOf: ({ entryId }) => entryId };

/** Prints a schedule: data as received, and a table of its entries. */
async function printSchedule(call: CommandContext, schedule: Stored): Promise<void> {
  const { output, jq } = call.common;
  if (isData(output) || jq !== undefined)
    return call.results.record(schedule, { columns: [], nameOf: () => '' });
  const entries = schedule.entries.map((entry, place) => ({
    entryId: entry.name ?? `entry-${place + 1}`,
    ...entry,
  }));
  await call.results.list([entries], entryView);
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

/** Runs `signage schedule set`. */
export async function runSetSchedule(call: CommandContext): Promise<number | undefined> {
  const { file, venue, selector } = call.options;
  const written = await readSchedule(call, file, call.options);
  const names: readonly string[] = call.args.screens;
  const upload = () => written.files.upload(call, written.body.entries);
  if (venue !== undefined && selector.length === 0) {
    if (names.length > 0) throw usage('Name screens, or a venue with --venue, but not both.');
    const { id } = await findVenue(call, venue);
    await upload();
    const made = await put(call, { level: 'venue', id }, written.body);
    if (made) await printSchedule(call, made.answer);
    return undefined;
  }
  const { screens, single } = await selectScreens(call, names);
  if (single) {
    await upload();
    const made = await put(call, { level: 'screen', id: single.id }, written.body);
    if (made) await printSchedule(call, made.answer);
    return undefined;
  }
  await confirmSelected(call, 'Set the schedule of', screens);
  await upload();
  return forEachRecord(
    call,
    screens,
    async ({ id }) => (await put(call, { level: 'screen', id }, written.body)) && 'set',
  );
}

/** Runs `signage schedule get`. */
export async function runGetSchedule(call: CommandContext): Promise<void> {
  await printSchedule(call, await readOwnSchedule(call, await requireOwner(call)));
}

/** Runs `signage schedule clear`. */
export async function runClearSchedule(call: CommandContext): Promise<number | undefined> {
  const { venue, selector } = call.options;
  const names: readonly string[] = call.args.screens;
  const remove = (level: ScheduleOwner['level'], id: string) =>
    call.change(level === 'screen' ? 'deleteScreenSchedule' : 'deleteVenueSchedule', {
      params: { id },
    });
  // Removing nothing succeeds, too, and would hide a mistake.
  const requireStored = async (level: ScheduleOwner['level'], id: string) => {
    if (!call.common.dryRun) await readOwnSchedule(call, { level, id });
  };
  if (venue !== undefined && selector.length === 0) {
    if (names.length > 0) throw usage('Name screens, or a venue with --venue, but not both.');
    const { id, name } = await findVenue(call, venue);
    await requireStored('venue', id);
    await call.confirmDestruction(`Remove the schedule of the venue "${name}"?`);
    if (await remove('venue', id)) call.note(`Removed the schedule of the venue "${name}".`);
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
