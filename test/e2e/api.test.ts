// The public surface of the package: its names, and the types of its signatures.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { apiReport } from '../support/process/api-report.ts';

const entries: Record<string, string> = {
  'signage-kit': 'index',
  'signage-kit/client': 'entry/client',
  'signage-kit/simulator': 'entry/simulator',
  'signage-kit/conformance': 'entry/conformance',
  'signage-kit/testing': 'entry/testing',
};

/** Parts of `CallInput`, which has the name for the whole. */
const partsOfCallInput = ['ParamsPart', 'QueryPart', 'BodyPart', 'KeyPart'];

const reports = Object.entries(entries).map(([name, path]) => ({
  name,
  ...apiReport(fileURLToPath(new URL(`../../dist/${path}.d.ts`, import.meta.url))),
}));

describe.each(reports)('$name', ({ name, text, needed }) => {
  it('exports what the committed report says (after a change: vitest -u)', async () => {
    await expect(text).toMatchFileSnapshot(`../fixtures/api/${name.replace('/', '-')}.txt`);
  });

  it('has only signatures whose types an entry point exports', () => {
    const named = new Set(reports.flatMap(({ exported }) => exported));
    const nameless = needed.filter((type) => !named.has(type));
    expect(
      nameless.filter((type) => !partsOfCallInput.some((part) => type.startsWith(`${part} `))),
    ).toEqual([]);
  });
});
