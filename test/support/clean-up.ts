// Files share the modules of the process that they run in: what a module asks for when it is loaded
// would be done after one of them only.
type Work = () => Promise<unknown>;

const afterFile: Work[] = [];
const afterTest: Work[] = [];

/** Has this done after the tests of each file; what was said last comes first. */
export const afterEachFile = (work: Work): void => void afterFile.push(work);
/** Has this done after each test. */
export const afterEachTest = (work: Work): void => void afterTest.push(work);

async function allOf(works: readonly Work[]): Promise<void> {
  for (const work of works.toReversed()) await work();
}
export const endFile = (): Promise<void> => allOf(afterFile);
export const endTest = (): Promise<void> => allOf(afterTest);
