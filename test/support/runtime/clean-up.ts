// Test files share the modules of their process, so a hook that a shared module registers when it
// is loaded would run only after one file.
type Work = () => Promise<unknown>;

const afterFile: Work[] = [];
const afterTest: Work[] = [];

/** Registers work for the end of each test file. The last registered runs first. */
export const afterEachFile = (work: Work): void => void afterFile.push(work);
/** Registers work for the end of each test. */
export const afterEachTest = (work: Work): void => void afterTest.push(work);

async function allOf(works: readonly Work[]): Promise<void> {
  for (const work of works.toReversed()) await work();
}
export const endFile = (): Promise<void> => allOf(afterFile);
export const endTest = (): Promise<void> => allOf(afterTest);
