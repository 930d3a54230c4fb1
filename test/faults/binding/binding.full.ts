import { expect, it } from 'vitest';
import { onCrashingDisk, onDatabase } from './fixture.ts';
import { runBindingScenario } from './scenario.ts';

it('1,000 scenarios with two power cuts each are linearizable', async () => {
  let calls = 0;
  for (let scenario = 0; scenario < 1000; scenario++) {
    const played = await runBindingScenario(`full ${scenario}`, onCrashingDisk(), {
      instances: 1,
      screens: 2,
      clients: 6,
      calls: 8,
      cuts: 2,
    });
    expect(played.found, `scenario ${scenario}`).toEqual([]);
    calls += played.calls;
  }
  console.log(`1,000 scenarios, ${calls / 2} calls, 2,000 power cuts: all linearizable`);
});

it('60 scenarios on three instances and PostgreSQL are linearizable', async () => {
  const place = await onDatabase();
  for (let scenario = 0; scenario < 60; scenario++) {
    const played = await runBindingScenario(`three ${scenario}`, place, {
      instances: 3,
      screens: 2,
      clients: 6,
      calls: 10,
      cuts: 0,
    });
    expect(played.found, `scenario ${scenario}`).toEqual([]);
  }
  console.log('60 scenarios over three instances on PostgreSQL: all linearizable');
});
