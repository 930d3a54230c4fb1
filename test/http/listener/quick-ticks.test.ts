import { createHook } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { tickKeeper } from '../../../src/http/listener/quick-ticks.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';

/**
 * Returns whether each object that `process.nextTick` created in `run` survives a garbage
 * collection.
 */
async function outlive(run: () => void): Promise<boolean[]> {
  const made: WeakRef<object>[] = [];
  const hook = createHook({
    init: (_id, type, _trigger, resource) =>
      void (type === 'TickObject' && made.push(new WeakRef(resource))),
  });
  hook.enable();
  run();
  hook.disable();
  await turn();
  collectGarbage();
  return made.map((one) => one.deref() !== undefined);
}

it('keeps one tick object alive, so that V8 keeps its hidden class', async () => {
  expect(await outlive(() => process.nextTick(() => {}))).toEqual([false]);
  const keep = tickKeeper();
  expect(await outlive(keep)).toEqual([true]);
  expect(await outlive(keep)).toEqual([]);
});
