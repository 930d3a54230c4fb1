import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The forms that take minutes, the longest first: so none of them is left over for one processor when the other has nothing more to do. */
const longest = [
  'kill',
  'power-cut',
  'crash-states',
  'guessing',
  'damage-everywhere',
  'soak',
  'binding',
  'time',
  'fuzz',
  'backups',
  'fail-everywhere',
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
