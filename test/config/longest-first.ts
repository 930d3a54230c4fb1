import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take minutes, the longest first, so that both workers end at about the same time.
 */
const longest = [
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
