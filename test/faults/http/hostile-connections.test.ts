// Connections that try to exhaust the memory of the service before authentication.
import { afterEach, expect, it } from 'vitest';
import { endProcesses } from '../../support/signage-process.ts';
import { floods, runFlood, startAttacked } from './hostile-connections.ts';

afterEach(endProcesses);

it.each([
  { flood: floods.oneConnection, mostMb: 60 },
  { flood: floods.manyConnections, mostMb: 150 },
])(
  '$flood.name, of which nobody reads a response, take less than $mostMb MB',
  async ({ flood, mostMb }) => {
    const { growthMb } = await runFlood(await startAttacked(), { ...flood, seconds: 1.5 });
    expect(growthMb).toBeLessThan(mostMb);
  },
);
