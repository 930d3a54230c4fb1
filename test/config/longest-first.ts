import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The forms that take minutes, the longest first: so none of them is left over for one processor when the other has nothing more to do. */
const longest = [
  'kill',
  'guessing',
  'damage-everywhere',
  'version-order',
  'soak',
  'fail-everywhere',
  'power-cut',
  'crash-states',
  'fuzz',
  'fleet-week',
  'time',
];

const rank = ({ moduleId }: TestSpecification) => {
  const place = longest.findIndex((name) => moduleId.includes(`/${name}.`));
  return place < 0 ? longest.length : place;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => rank(one) - rank(other) || (one.moduleId < other.moduleId ? -1 : 1));
  }
}
