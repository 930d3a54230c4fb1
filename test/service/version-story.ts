import fc from 'fast-check';
import { expect } from 'vitest';
import { ManualClock } from '../support/runtime/manual-clock.ts';
import { turns } from '../support/runtime/turns.ts';
import { item } from '../support/service/content.ts';
import { faultyObjects, type ObjectFault } from '../support/stores/faulty-objects.ts';
import type { StoreFault } from '../support/stores/faulty-store.ts';
import {
  type Deployment,
  type ThreeOrigins,
  threeOrigins,
} from '../support/stores/three-origins.ts';

const hour = 60 * 60_000;
const contents = ['a', 'b', 'c'].map((title) => [item({ title })]);

type SourceState =
  | { kind: 'answers'; content: number; validForMs: number | null }
  | { kind: 'none' | 'error' | 'hang' | 'garbage' };
export type Step =
  | {
      do: 'world';
      source: SourceState;
      store: StoreFault;
      writes: StoreFault;
      objects: ObjectFault;
    }
  | { do: 'publish'; content: number }
  | { do: 'withdraw' | 'restart' | 'get' }
  | { do: 'pass'; ms: number };

const content = fc.integer({ min: 0, max: contents.length - 1 });
const answers = fc.record({
  kind: fc.constant('answers' as const),
  content,
  validForMs: fc.constantFrom(null, null, hour),
});
const noAnswer = fc.record({
  kind: fc.constantFrom('none' as const, 'error' as const, 'hang' as const, 'garbage' as const),
});
/** All origins change in one step, so that few steps make a scenario. */
const world = fc.record({
  do: fc.constant('world' as const),
  source: fc.oneof(answers, noAnswer),
  store: fc.constantFrom<StoreFault>('no', 'no', 'no', 'error', 'error', 'hang', 'garbage'),
  writes: fc.constantFrom<StoreFault>('no', 'no', 'no', 'error', 'hang'),
  objects: fc.constantFrom<ObjectFault>(
    'no',
    'no',
    'no',
    'error',
    'error',
    'hang',
    'garbage',
    'none',
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: world },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('publish' as const), content }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'withdraw' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'restart' }) },
  { weight: 8, arbitrary: fc.constant<Step>({ do: 'get' }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1000, 11_000, 60_000, 25 * hour),
    }),
  },
);

/** The answer of the source in a state. Its expiry is constant within the state. */
function answersOf(state: SourceState, nowMs: number): () => unknown {
  if (state.kind === 'answers') {
    const validUntil =
      state.validForMs === null ? null : Math.floor((nowMs + state.validForMs) / 1000);
    return () => ({ items: contents[state.content], validUntil });
  }
  const byKind = {
    none: () => null,
    garbage: () => ({ items: 'rubbish' }),
    hang: () => new Promise<never>(() => {}),
    error() {
      throw new Error('planted');
    },
  };
  return byKind[state.kind];
}

/** The version up to which the object store has recorded the withdrawal. 0: it has not. */
async function withdrawnEverywhere(
  { inner, copies, objects, driven }: Deployment,
  screenId: string,
): Promise<number> {
  const screen = await inner.read.get('screens', screenId);
  const stored = screen && objects.fault === 'no' ? await driven(copies.read(screen)) : undefined;
  return stored?.copy.kind === 'withdrawn' ? stored.copy.version : 0;
}

/** Arbitrary steps, some of them restarts. */
export const scenario = fc.array(step, { minLength: 10, maxLength: 60, size: 'max' });
export const ttlsMs = fc.constantFrom(0, 0, 10_000);

export const withoutRestarts = (steps: readonly Step[]) =>
  steps.filter((one) => one.do !== 'restart');

/**
 * Runs the steps with one TV on a store at this location. The TV must never get an older version
 * than before, and no fallback may serve a withdrawn one. With `plant`, the origins have a seeded
 * defect.
 */
export async function runScenario(
  location: string,
  ttlMs: number,
  steps: readonly Step[],
  plant?: ThreeOrigins['replace'],
): Promise<void> {
  const clock = new ManualClock();
  const objects = faultyObjects();
  let answerSource: () => unknown = () => null;
  const start = () =>
    threeOrigins({
      clock,
      objects,
      location,
      ttlMs,
      mirrored: true,
      onDemand: () => answerSource(),
      replace: plant,
    });
  let deployment: Deployment = await start();
  const tv = await deployment.tv();
  let newest = 0;
  let withdrawn = 0;
  const bodies = new Map<number, string>();

  async function get(): Promise<void> {
    const { status, text, headers, body } = await deployment.get(tv);
    expect([200, 404, 500]).toContain(status);
    if (status !== 200) return;
    const version = Number(headers.get('x-playlist-version'));
    expect(body.version).toBe(version);
    expect(version, 'the version decreased').toBeGreaterThanOrEqual(newest);
    newest = version;
    if (headers.get('x-source') !== 'on-demand')
      expect(version, 'a withdrawn version is served').toBeGreaterThan(withdrawn);
    // A version never changes its content. Without an expiry of its own, its validUntil moves.
    const content = JSON.stringify(body.items);
    expect(bodies.get(version) ?? content, 'a version has two contents').toBe(content);
    bodies.set(version, content);
    expect(text).not.toMatch(/rubbish|planted/);
  }

  async function applyStep(one: Step): Promise<void> {
    if (one.do === 'world') {
      answerSource = answersOf(one.source, clock.now());
      deployment.store.fault = one.store;
      deployment.store.faultOfWrites = one.writes;
      objects.fault = one.objects;
    } else if (one.do === 'pass') clock.advance(one.ms);
    else if (one.do === 'get') await get();
    else if (one.do === 'restart') {
      await deployment.close();
      deployment = await start();
    } else if (deployment.store.fault === 'no' && deployment.store.faultOfWrites === 'no') {
      // Only while the store works: a hanging change would test nothing, and slow the test down.
      if (one.do === 'publish') await deployment.publish(tv.screenId, contents[one.content]!);
      else if ((await deployment.withdraw(tv.screenId)).status === 204)
        withdrawn = Math.max(withdrawn, await withdrawnEverywhere(deployment, tv.screenId));
    }
  }

  for (const one of [...steps, { do: 'get' } as const]) await applyStep(one);
  deployment.store.fault = 'no';
  deployment.store.faultOfWrites = 'no';
  await get();
  await turns();
  await deployment.close();
}
