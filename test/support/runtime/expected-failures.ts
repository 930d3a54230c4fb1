import { readFileSync } from 'node:fs';

/** Returns the checks that each seeded defect must fail, and no others. */
export function expectedFailures(of: 'service' | 'tv') {
  const file = new URL(`../../fixtures/expected-failures/${of}.json`, import.meta.url);
  const expected: Record<string, string[]> = JSON.parse(readFileSync(file, 'utf8'));
  return (defect: string): readonly string[] => {
    const checks = expected[defect];
    if (!checks) throw new Error(`Add "${defect}" to ${file.pathname}.`);
    return checks;
  };
}
