import type { ListId, PlainInput } from '../../client/call.ts';

const createScreen = 'signage screen create VENUE/NAME';

/** The next step on a service without records of this kind. */
const firstSteps: Partial<Readonly<Record<ListId, string>>> = {
  listVenues: 'No venues yet. Create one: signage venue create --name NAME',
  listScreens: `No screens yet. Create a venue with signage venue create --name VENUE, then ${createScreen}`,
  listDevices: `No TVs yet. Create a screen with ${createScreen}, then signage pair`,
  listEvents:
    'No events yet: TVs send them once they are paired. See signage status, signage pair.',
  listNotices:
    'No notices yet: the service tells what happens to TVs once they are paired. See signage pair.',
  listRequests: 'No requests yet: TVs send them once they are paired. See signage pair.',
  listPlaylistVersions: 'No playlist yet. Publish one: signage playlist publish',
};

const isEmpty = (value: unknown) =>
  value === undefined || (Array.isArray(value) && value.length === 0);

/** Returns the text in place of an empty list: the first step, unless filters may hide records. */
export function emptyText(id: ListId, input?: PlainInput): string {
  const isFiltered = !Object.values(input?.query ?? {}).every(isEmpty);
  return (isFiltered ? undefined : firstSteps[id]) ?? 'Nothing found.';
}
