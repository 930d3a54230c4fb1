import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { serve } from '../../src/serve.ts';

/** The limit of open files of this process. `undefined` on other systems than Linux. */
function openFileLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
  } catch {
    return undefined;
  }
}

it.each([1, 200_000])(
  'warns at the start if the limit of open files is below the connections: %i',
  async (maxConnections) => {
    const warnings: string[] = [];
    const ignore = () => {};
    const warn = (_: object, message: string) => void warnings.push(message);
    const log = { debug: ignore, info: ignore, warn, error: ignore };
    await using _ = await serve({ port: 0, store: 'memory:', maxConnections, log });
    const isLower = (openFileLimit() ?? Number.POSITIVE_INFINITY) < maxConnections;
    expect(warnings.some((one) => one.includes('open files'))).toBe(isLower);
  },
);
