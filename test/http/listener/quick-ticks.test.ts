import { createHook } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { tickKeeper } from '../../../src/http/listener/quick-ticks.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';

/** Whether each object that `process.nextTick` made in `run` outlives a collection of garbage. */
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

it('one object of a tick is kept, once, so that the engine does not forget what they look like', async () => {
  expect(await outlive(() => process.nextTick(() => {}))).toEqual([false]);
  const keep = tickKeeper();
  expect(await outlive(keep)).toEqual([true]);
  expect(await outlive(keep)).toEqual([]);
});
