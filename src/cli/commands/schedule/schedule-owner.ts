import type { CallAnswer } from '../../../client/call.ts';
import type { Venue } from '../../../client/entities.ts';
import { SignageError } from '../../../domain/error.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { findScreen, findVenue, orUndefined } from '../../records/find.ts';

/** The record that has a schedule: a screen, or a venue for all its screens. */
export interface ScheduleOwner {
  level: 'screen' | 'venue';
  id: string;
  name: string;
  /** The venue, or the venue of the screen. */
  venueId: string;
}

type Stored = CallAnswer<'getScreenSchedule'>;

/** Returns the screen or the venue that the command line names. `undefined`: neither. */
export async function findOwner(call: CommandContext): Promise<ScheduleOwner | undefined> {
  const { screen } = call.args;
  const { venue } = call.options;
  if (screen !== undefined && venue !== undefined)
    throw usage('Name a screen, or a venue with --venue, but not both.');
  if (venue !== undefined) {
    const { id, name } = await findVenue(call, venue);
    return { level: 'venue', id, name, venueId: id };
  }
  if (screen === undefined) return undefined;
  const { id, venueId } = await findScreen(call, screen);
  return { level: 'screen', id, name: screen, venueId };
}

/** Like `findOwner`, and throws `usage` if the command line names nothing. */
export async function requireOwner(call: CommandContext): Promise<ScheduleOwner> {
  const owner = await findOwner(call);
  if (!owner) throw usage('Name a screen, or a venue with --venue.');
  return owner;
}

/** Reads the own schedule of a screen or venue. */
export const readOwnSchedule = (
  call: CommandContext,
  { level, id }: Pick<ScheduleOwner, 'level' | 'id'>,
): Promise<Stored> =>
  level === 'screen'
    ? call.read('getScreenSchedule', { params: { id } })
    : call.read('getVenueSchedule', { params: { id } });

/** Reads the schedule that a screen follows, its own or that of its venue, or that of a venue. */
export async function readFollowedSchedule(
  call: CommandContext,
  owner: ScheduleOwner,
): Promise<Stored> {
  const own = await orUndefined(readOwnSchedule(call, owner), 'schedule_not_found');
  if (own) return own;
  const found =
    owner.level === 'screen' &&
    (await orUndefined(
      readOwnSchedule(call, { level: 'venue', id: owner.venueId }),
      'schedule_not_found',
    ));
  if (found) return found;
  const what =
    owner.level === 'screen'
      ? `the screen "${owner.name}" and its venue`
      : `the venue "${owner.name}"`;
  throw new SignageError('schedule_not_found', `There is no schedule for ${what}.`);
}

export function readVenue(call: CommandContext, { venueId }: ScheduleOwner): Promise<Venue> {
  return call.read('getVenue', { params: { id: venueId } });
}
