import fc from 'fast-check';

const minute = 60_000;
const lifetime = 15 * minute;

/** Source of a request. A number is one of the attacker's own sources, or a guest from 50 on. */
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
  /** Offsets of the instances' clocks from the store's. One for each instance. */
  skewsMs: readonly number[];
  steps: readonly Step[];
}

const by = fc.nat(2);
const place = fc.constantFrom<Place>(
  ...['fresh' as const, 'fresh prefix' as const, 'rotating' as const, 'one /60' as const],
  ...['one /56' as const, 'one /48' as const, 'foothold' as const, 'home' as const, 0, 1],
);
const guess = (from: fc.Arbitrary<Place>, count: fc.Arbitrary<number>, ...everyMs: number[]) =>
  fc.record({
    ...{ do: fc.constant('guess' as const), from, count, by },
    everyMs: fc.constantFrom(0, ...everyMs),
  });
const work = (from: Place, of: Tenant = 'victim', at = 0): Step => ({
  ...{ do: 'work', of, from, by: at },
});
const pair = fc.record({ do: fc.constant('pair' as const), at: fc.constantFrom(0, 1, 2), by });
/** Times at the limits of the windows, and others. */
const gap = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.oneof(
    fc.constantFrom(lifetime - 1, lifetime, lifetime + 1, lifetime / 2, minute, minute - 1, 1),
    fc.nat(lifetime),
  ),
});

const oneStep: fc.Arbitrary<Step> = fc.oneof(
  guess(place, fc.nat(20), 1000, minute),
  gap,
  pair,
  fc.record({
    ...{ do: fc.constant('hit' as const), from: place, by, count: fc.integer({ min: 1, max: 3 }) },
    of: fc.constantFrom<Tenant>('victim', 'own'),
  }),
  fc.record({ do: fc.constant('restart' as const), by }),
);

/** Guesses about as often as the shared limit allows, perhaps in a drip or with a break. */
const flood: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.integer({ min: 1, max: 127 }),
    fc.integer({ min: -1, max: 6 }),
    guess(fc.constantFrom('fresh', 'fresh prefix'), fc.constant(0), 1000, lifetime / 128),
    fc.oneof(gap, pair, fc.record({ do: fc.constant('restart' as const), by })),
  )
  .map(([first, more, one, between]) => [
    { ...one, count: first },
    between,
    { ...one, count: 128 - first + more },
  ]);

/** Each of some sources guesses. The victim trusts guests, whose sources begin with 50. */
const crowd = (least: number, most: number, guesses: number, isTrusted: boolean) =>
  fc
    .tuple(fc.integer({ min: least, max: most }), by)
    .map(([sources, at]) =>
      Array.from({ length: sources }, (_, n) => (isTrusted ? 50 : 2) + n).flatMap(
        (from): Step[] => [
          ...(isTrusted ? [work(from, 'victim', at)] : []),
          { do: 'guess', count: guesses, from, by: at, everyMs: 0 },
          { do: 'hit', of: 'victim', count: 1, from, by: at },
        ],
      ),
    );

const many = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: oneStep.map((step) => [step]) },
    { weight: 2, arbitrary: flood },
    { weight: 1, arbitrary: crowd(13, 16, 11, false) },
    { weight: 1, arbitrary: crowd(1, 8, 22, true) },
  ),
  { minLength: 1, maxLength: 9, size: 'max' },
);
/** Uses up the limit of a tenant. Its TVs need not be able to pair. */
const tooManyGuests = fc
  .tuple(guess(fc.constant('fresh'), fc.constant(140)), crowd(20, 26, 24, true), gap)
  .map(([first, ...others]) => [[first], ...others.map((steps) => [steps].flat())]);

const sitsOut = fc.tuple(fc.record({ do: fc.constant('sit out' as const), by }), pair);

/** Hours before the attack, credentials work at their usual sources. */
const settled: Step[] = [
  ...(['venue 0', 'venue 1', 'venue 2', 'foothold'] as const).map((from, n) =>
    work(from, 'victim', n),
  ),
  work('home', 'own'),
];
const later: fc.Arbitrary<Step[]> = fc.oneof(
  fc.constant<Step[]>([]),
  fc.tuple(fc.nat(18 * 60 * minute), by).map(([ms, at]): Step[] => [
    { do: 'wait', ms },
    { do: 'restart', by: at },
  ]),
);

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  skewsMs: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: -20 * minute, max: 20 * minute })), {
    minLength: 1,
    maxLength: 3,
  }),
  steps: fc
    .tuple(
      later,
      fc.oneof<fc.WeightedArbitrary<Step[]>[]>(
        { weight: 14, arbitrary: many.map((steps) => steps.flat()) },
        { weight: 1, arbitrary: tooManyGuests.map((steps) => steps.flat()) },
        { weight: 1, arbitrary: sitsOut },
      ),
    )
    .map(([first, steps]) => [...settled, ...first, ...steps]),
});
