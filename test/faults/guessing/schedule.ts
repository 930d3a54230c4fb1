import type { SeededRandom } from '../../../src/simulator/seeded-random.ts';

const minute = 60_000;
const lifetime = 15 * minute;

/** Source of a request. A number is one of the attacker's own sources. */
export type Place =
  | number
  /** A new address or /64 each time. */
  | 'fresh'
  | 'fresh prefix'
  /** Another address of the same /64 each time, or another /64 of the same /60, /56 or /48. */
  | 'rotating'
  | 'one /60'
  | 'one /56'
  | 'one /48'
  /** Sources that the victim trusts. An attacker shares one of them. */
  | 'venue 0'
  | 'venue 1'
  | 'venue 2'
  | 'foothold'
  /** A source that the attacker's own tenant trusts. */
  | 'home';

/** `victim` is the tenant under attack, `own` that of the attacker. */
export type Tenant = 'victim' | 'own';

/** A step. `by` is the instance that receives the request. */
export type Step =
  | { do: 'wait'; ms: number }
  /** Guesses of unknown codes. */
  | { do: 'guess'; count: number; from: Place; by: number; everyMs: number }
  /** A registration with an existing code, guessed or known. */
  | { do: 'hit'; of: Tenant; count: number; from: Place; by: number }
  /** A TV of the victim registers at a trusted source. */
  | { do: 'pair'; at: 0 | 1 | 2; by: number }
  | { do: 'work'; of: Tenant; from: Place; by: number }
  | { do: 'restart'; by: number }
  /** An unknown source guesses until it is refused, and then waits as told each time. */
  | { do: 'sit out'; by: number };

export interface Schedule {
  kind: string;
  /** Offsets of the instances' clocks from the store's. One for each instance. */
  skewsMs: readonly number[];
  steps: readonly Step[];
}

type Compose = (pick: Pick) => Step[];

/** Random choices. */
interface Pick {
  whole(least: number, most: number): number;
  one<T>(...of: readonly T[]): T;
  /** An instance. */
  by(): number;
}

const guess = (pick: Pick, from: Place, count: number, everyMs = 0): Step => ({
  do: 'guess',
  count,
  from,
  by: pick.by(),
  everyMs,
});
const many = (pick: Pick): Place => pick.one('fresh', 'fresh', 'fresh prefix');
const pair = (pick: Pick): Step => ({ do: 'pair', at: pick.one(0, 1, 2), by: pick.by() });
const hit = (pick: Pick, of: Tenant, from: Place): Step => ({
  do: 'hit',
  of,
  count: pick.whole(1, 3),
  from,
  by: pick.by(),
});
/** Returns waits at the limits of the windows, and others. */
const gap = (pick: Pick): Step => ({
  do: 'wait',
  ms: pick.one(
    lifetime - 1,
    lifetime,
    lifetime + 1,
    lifetime / 2,
    pick.whole(0, lifetime),
    60_000,
    59_999,
    1,
  ),
});
/** Returns about as many guesses as the shared limit allows. */
const flood = (pick: Pick): Step[] => {
  const first = pick.whole(1, 127);
  const by = pick.by();
  return [
    { ...guess(pick, many(pick), first), by } as Step,
    pick.one<Step>(
      { do: 'wait', ms: pick.whole(0, lifetime - 1) },
      { do: 'restart', by },
      pair(pick),
    ),
    guess(pick, many(pick), 128 - first + pick.whole(-1, 6)),
  ];
};

const kinds: Record<string, Compose> = {
  burst: (pick) => [
    ...flood(pick),
    pair(pick),
    gap(pick),
    guess(pick, many(pick), pick.whole(1, 20)),
    hit(pick, 'victim', 'fresh'),
  ],
  'window edges': (pick) => [
    ...flood(pick),
    gap(pick),
    ...flood(pick),
    gap(pick),
    guess(pick, many(pick), pick.whole(1, 20)),
    pair(pick),
  ],
  drip: (pick) => {
    const everyMs = pick.one(
      lifetime / 128 - 1,
      lifetime / 128,
      lifetime / 127,
      lifetime / 130,
      1000,
    );
    return [
      guess(pick, many(pick), 100, everyMs),
      pair(pick),
      guess(pick, many(pick), pick.whole(20, 60), everyMs),
      pair(pick),
    ];
  },
  'one source': (pick) => [
    guess(pick, 0, pick.whole(5, 14), pick.one(0, 1000, minute)),
    hit(pick, 'victim', 0),
    gap(pick),
    guess(pick, 0, pick.whole(1, 12)),
    pair(pick),
  ],
  'rotation in a /64': (pick) => [
    guess(pick, 'rotating', pick.whole(8, 14)),
    gap(pick),
    guess(pick, 'rotating', pick.whole(1, 12)),
    pair(pick),
  ],
  'thirteen /64s': (pick) => [
    guess(pick, 'one /60', 13 * 10),
    hit(pick, 'victim', 'fresh'),
    guess(pick, 'fresh', 3),
    pair(pick),
  ],
  'rotation in a /48': (pick) => [
    guess(pick, pick.one('one /60', 'one /56', 'one /48'), pick.whole(5, 40)),
    gap(pick),
    guess(pick, pick.one('one /60', 'one /56', 'one /48'), pick.whole(5, 40)),
    guess(pick, 'fresh', 2),
    pair(pick),
  ],
  'few customers': (pick) => [
    ...Array.from({ length: pick.whole(13, 16) }, (_, source) => guess(pick, source, 11)),
    guess(pick, many(pick), pick.whole(3, 100)),
    pair(pick),
  ],
  guests: (pick) => [
    ...(pick.one(true, true, false) ? flood(pick) : []),
    ...Array.from({ length: pick.whole(1, 12) }, (_, n) => 50 + n).flatMap((source): Step[] => [
      { do: 'work', of: 'victim', from: source, by: pick.by() },
      guess(pick, source, pick.whole(1, 40)),
      hit(pick, 'victim', source),
      pair(pick),
    ]),
    pick.one<Step>(pair(pick), { do: 'restart', by: pick.by() }),
    ...([0, 1, 2] as const).map((at): Step => ({ do: 'pair', at, by: pick.by() })),
  ],
  /** Uses up the limit of a tenant. Its TVs need not be able to pair. */
  'too many guests': (pick) => [
    guess(pick, many(pick), 140),
    ...Array.from({ length: pick.whole(20, 26) }, (_, n) => 50 + n).flatMap((source): Step[] => [
      { do: 'work', of: 'victim', from: source, by: pick.by() },
      guess(pick, source, 24),
      hit(pick, 'victim', source),
    ]),
    gap(pick),
    guess(pick, many(pick), pick.whole(1, 40)),
  ],
  'few sources': (pick) =>
    [0, 1].flatMap((source) => [
      guess(pick, source, pick.whole(6, 12), 100),
      hit(pick, 'victim', source),
    ]),
  'known codes between': (pick) =>
    [0, 1, 2, 3].flatMap(() => [
      guess(pick, 0, pick.whole(1, 5)),
      hit(pick, pick.one('victim', 'own'), 0),
      pair(pick),
    ]),
  'a little from home': (pick) => [
    guess(pick, 'home', pick.whole(8, 14)),
    hit(pick, pick.one('victim', 'own'), 'home'),
    pair(pick),
    gap(pick),
    guess(pick, 'home', pick.whole(1, 12)),
  ],
  'a little from a foothold': (pick) => [
    guess(pick, 'foothold', pick.whole(8, 14)),
    hit(pick, 'victim', 'foothold'),
    pair(pick),
  ],
  'from home': (pick) => [
    guess(pick, 'home', pick.whole(8, 90)),
    hit(pick, 'victim', 'home'),
    hit(pick, 'own', 'home'),
    ...(pick.one(true, false) ? flood(pick) : []),
    guess(pick, 'home', pick.whole(1, 70)),
    pair(pick),
  ],
  foothold: (pick) => [
    ...(pick.one(true, false) ? flood(pick) : []),
    guess(pick, 'foothold', pick.whole(8, 90)),
    gap(pick),
    guess(pick, 'foothold', pick.whole(8, 90)),
    hit(pick, 'victim', 'foothold'),
    pair(pick),
  ],
  'typing errors': (pick) => [
    ...flood(pick),
    ...[0, 1, 2].flatMap((at) => [
      guess(pick, `venue ${at as 0 | 1 | 2}`, pick.whole(1, 9)),
      pair(pick),
    ]),
  ],
  'sits out': (pick) => [{ do: 'sit out', by: pick.by() }, pair(pick)],
};

/** Slow kinds, which reach the shared limit. One for every 15 others. */
const long = [
  'burst',
  'window edges',
  'drip',
  'typing errors',
  'from home',
  'foothold',
  'guests',
  'too many guests',
  'few customers',
];
const short = Object.keys(kinds).filter((kind) => !long.includes(kind));
const kindOf = (number: number) =>
  (number % 16 === 0 ? long[(number / 16) % long.length] : short[number % short.length]) as string;

function pickFrom(chance: SeededRandom, instances: number): Pick {
  const whole = (least: number, most: number) => Math.floor(chance.between(least, most + 1));
  return {
    whole,
    one: (...of) => of[whole(0, of.length - 1)] as (typeof of)[number],
    by: () => whole(0, instances - 1),
  };
}

/** Returns schedule `number`. The kinds alternate. */
export function composeSchedule(chance: SeededRandom, number: number): Schedule {
  const instances = Math.floor(chance.between(1, 4));
  const pick = pickFrom(chance, instances);
  const kind = kindOf(number);
  const skewsMs = Array.from({ length: instances }, () =>
    pick.one(0, 0, pick.whole(-20 * minute, 20 * minute)),
  );
  return { kind, skewsMs, steps: [...settle(pick), ...(kinds[kind] as Compose)(pick)] };
}

/** Hours before the attack, credentials work at their usual sources. */
function settle(pick: Pick): Step[] {
  const work = (of: Tenant, from: Place): Step => ({ do: 'work', of, from, by: pick.by() });
  const places: readonly Place[] = ['venue 0', 'venue 1', 'venue 2', 'foothold'];
  const later: Step[] = pick.one(true, false)
    ? [
        { do: 'wait', ms: pick.whole(0, 18 * 60 * minute) },
        { do: 'restart', by: pick.by() },
      ]
    : [];
  return [...places.map((place) => work('victim', place)), work('own', 'home'), ...later];
}
