import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take long, the longest of each run first, so that all workers end at about the
 * same time.
 */
const longest = [
  // Full suites.
  'kill',
  'power-cut',
  'crash-states',
  'guessing',
  'soak',
  'binding',
  'time',
  'fuzz',
  'seeded-defects',
  'disk.full',
  'instances',
  'version-order',
  'fleet-week',
  // `npm run test:rest`.
  'web/upcoming',
  'web/hostile-pages',
  'web/kills',
  'e2e/package',
  'run-exam',
  'web/recovery',
  // `npm test`.
  'run-conformance',
  'store/contract',
  'outage',
  'serve/demo',
  'transcripts',
];

const rank = ({ moduleId }: TestSpecification) => {
  const place = longest.findIndex((name) => moduleId.includes(`/${name}.`));
  return place < 0 ? longest.length : place;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted(
      (one, other) => rank(one) - rank(other) || (one.moduleId < other.moduleId ? -1 : 1),
    );
  }
}
