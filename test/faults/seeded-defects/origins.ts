import type { Screen } from '../../../src/domain/records/rows.ts';
import type { PlaylistChain, RenderedPlaylist } from '../../../src/origin/origin.ts';
import { runScenario, type Step } from '../../service/version-story.ts';
import type { ThreeOrigins } from '../../support/stores/three-origins.ts';
import { seeded } from './seeded-defect.ts';

type Plant = NonNullable<ThreeOrigins['replace']>;

const sound = {
  do: 'world',
  source: { kind: 'none' },
  store: 'no',
  writes: 'no',
  objects: 'no',
} as const;

/**
 * In one scenario the copy is outdated when the store fails. The other only withdraws a playlist.
 */
const scenarios: Step[][] = [
  [
    sound,
    { do: 'publish', content: 0 },
    { ...sound, objects: 'error' },
    { do: 'publish', content: 1 },
    { do: 'get' },
    { ...sound, store: 'error' },
    { do: 'get' },
  ],
  [sound, { do: 'publish', content: 0 }, { do: 'get' }, { do: 'withdraw' }, { do: 'get' }],
];

async function play(seededDefect?: Plant): Promise<string[]> {
  const played = await Promise.allSettled(
    scenarios.map((steps) => runScenario('memory:', 0, steps, seededDefect)),
  );
  return played.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
}

/** Serves the last playlist after it was withdrawn. */
function keepingAnswers(ask: PlaylistChain): PlaylistChain {
  const had = new Map<string, RenderedPlaylist>();
  return async (screen: Screen) => {
    const answer = await ask(screen);
    if (answer.kind === 'playlist') had.set(screen.id, answer.playlist);
    const last = had.get(screen.id);
    return answer.kind === 'none' && last
      ? { kind: 'playlist', playlist: last, source: 'store' }
      : answer;
  };
}

const defects: Record<string, Plant> = {
  'version lowered by a fallback': ({ served }) => ({
    served: {
      ...served,
      notOlder: (origin) => ({ name: origin.name, fetch: async (screen) => origin.fetch(screen) }),
    },
  }),
  'withdrawn playlist served': ({ ask }) => ({ ask: keepingAnswers(ask) }),
};

export const origins = seeded('version-story', play, defects);
