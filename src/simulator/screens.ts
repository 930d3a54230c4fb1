import type { CallAnswer, CallInput } from '../client/call.ts';
import type { ManagementClient } from '../client/management-client.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import { forEachBounded } from './bounded.ts';

export type Screen = CallAnswer<'createScreen'>;
type Publication = CallInput<'publishPlaylist'>['body'];

/** Screens with this label are for simulated TVs; all others are left alone. */
const simulatedLabel = { simulated: 'true' };

interface Wanted {
  management: ManagementClient;
  venueName: string;
  count: number;
  concurrency: number;
  signal?: AbortSignal | undefined;
}

/** The venue of this name: the one that is there, or a new one. */
async function ensureVenue({ management, venueName, signal }: Wanted): Promise<string> {
  try {
    return (await management.call('createVenue', { body: { name: venueName }, signal })).id;
  } catch (error) {
    if (hasCode(error, 'name_taken') && error.existingId !== undefined) return error.existingId;
    throw error;
  }
}

const isForTvs = (screen: Screen) => screen.labels?.simulated === simulatedLabel.simulated;

/** What the screens of this run show: three items of one campaign. Nothing is fetched from these addresses. */
const playlist: Publication = {
  items: [1, 2, 3].map((number) => ({
    creativeId: `00000000-0000-4000-8000-00000000000${number}`,
    creativeUrl: `https://media.example.com/simulated/${number}.mp4`,
    creativeType: 'video' as const,
    duration: 10 * number,
    campaignId: '00000000-0000-4000-8000-0000000000ca',
  })),
};

async function addScreen({ management, signal }: Wanted, venueId: string, name: string): Promise<Screen | undefined> {
  try {
    const screen = await management.call('createScreen', { body: { venueId, name, labels: simulatedLabel }, signal });
    await management.call('publishPlaylist', { params: { id: screen.id }, body: playlist, signal });
    return screen;
  } catch (error) {
    // Another run took the name in between: the next one will do.
    if (hasCode(error, 'name_taken')) return undefined;
    throw error;
  }
}

/** Names that no screen of the venue has, one after another, without end. */
function* freeNames(screens: readonly Screen[]): Generator<string> {
  const taken = new Set(screens.map((screen) => screen.name.toLowerCase()));
  for (let number = 1; ; number++) if (!taken.has(`simulated ${number}`)) yield `Simulated ${number}`;
}

async function addScreens(wanted: Wanted, venueId: string, there: readonly Screen[]): Promise<Screen[]> {
  const free = there.filter((screen) => isForTvs(screen) && screen.state === 'provisioning').slice(0, wanted.count);
  const names = freeNames(there);
  const places = Array.from({ length: wanted.count - free.length }, (_, place) => place);
  const added: Screen[] = [];
  await forEachBounded(places, wanted.concurrency, async () => {
    for (let screen: Screen | undefined; !screen; ) {
      screen = await addScreen(wanted, venueId, names.next().value ?? '');
      if (screen) added.push(screen);
    }
  });
  return [...free, ...added];
}

/**
 * As many free screens for simulated TVs as are wanted, in the venue of that name, which is made if need be: first those that an earlier
 * run left free, then new ones with a small playlist. Screens that are not labelled `simulated=true` are never touched.
 */
export async function prepareScreens(wanted: Wanted): Promise<Screen[]> {
  if (wanted.count < 1) throw new SignageError('invalid_option', 'A fleet has at least one TV.');
  const venueId = await ensureVenue(wanted);
  const there: Screen[] = [];
  for await (const screen of wanted.management.all('listScreens', { query: { venueId, limit: 200 }, signal: wanted.signal }))
    there.push(screen);
  return addScreens(wanted, venueId, there);
}
