import { expect, it } from 'vitest';
import { servingInMemory } from './serving.ts';

const faultOf = async (url: string) =>
  (await fetch(`${url}/healthz`)).headers.get('x-signage-fault');

it('signage serve --fault injects the faults, and logs each rule on stderr', async () => {
  const { io, url } = await servingInMemory([
    '--fault',
    'GET /healthz=503',
    '--fault',
    '*=delay 0s-1ms',
  ]);
  expect(await faultOf(url)).toBe('GET /healthz=503, *=delay 0s-1ms');
  const warnings = io
    .err()
    .split('\n')
    .filter((line) => line.includes('misbehaves on purpose'));
  expect(warnings).toEqual([
    expect.stringContaining('GET /healthz=503'),
    expect.stringContaining('*=delay 0s-1ms'),
  ]);
  expect(io.out()).not.toContain('misbehaves');
});

it('signage serve --fault has no environment variable', async () => {
  const { io, url } = await servingInMemory([], {
    SIGNAGE_FAULT: '*=503',
    SIGNAGE_FAULTS: '*=503',
  });
  expect(await faultOf(url)).toBeNull();
  expect(io.err()).not.toContain('misbehaves');
});
