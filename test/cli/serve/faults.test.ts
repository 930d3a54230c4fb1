import { expect, it } from 'vitest';
import { servingInMemory } from './serving.ts';

const faultOf = async (url: string) =>
  (await fetch(`${url}/devices/x/config`)).headers.get('x-signage-fault');

it('signage serve --fault injects the faults, and logs each rule on stderr', async () => {
  const { io, url } = await servingInMemory(['--fault', '503:config', '--fault', 'slow:0s-1ms']);
  expect(await faultOf(url)).toBe('503:config, slow:0s-1ms');
  const warnings = io
    .err()
    .split('\n')
    .filter((line) => line.includes('misbehaves on purpose'));
  expect(warnings).toEqual([
    expect.stringContaining('503:config'),
    expect.stringContaining('slow:0s-1ms'),
  ]);
  expect(io.out()).not.toContain('misbehaves');
});

it('signage serve --fault has no environment variable', async () => {
  const { io, url } = await servingInMemory([], {
    SIGNAGE_FAULT: '503',
    SIGNAGE_FAULTS: '503',
  });
  expect(await faultOf(url)).toBeNull();
  expect(io.err()).not.toContain('misbehaves');
});
