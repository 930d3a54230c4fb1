import { appendBatchTests } from './append-batch-tests.ts';
import { activityTests, auditTests } from './audit-tests.ts';
import { eventTests } from './event-tests.ts';
import { guessCounterTests } from './guess-counter-tests.ts';
import { impressionTests } from './impression-tests.ts';
import { findByKeyHashTests, selectAndCountTests, uniqueKeysTests } from './key-tests.ts';
import { finishedCodesTests, readyAndCloseTests, watchTests } from './lifecycle-tests.ts';
import { listTests, playlistSummaryTests } from './list-tests.ts';
import { pageTests } from './page-tests.ts';
import { sequenceTests } from './sequence-tests.ts';
import type { OpenEmptyStore, StoreTest } from './store-test.ts';
import { writeTests } from './write-tests.ts';

/**
 * Returns the tests that every store must pass: the promises of the interface `Store`. They use
 * `node:assert` and need no test framework. Run them one after another. Each test opens its own
 * empty store.
 *
 * @example
 * import { test } from 'node:test';
 * for (const { name, run } of storeTests(open)) test(name, run);
 */
export function storeTests(open: OpenEmptyStore): StoreTest[] {
  return [
    writeTests,
    uniqueKeysTests,
    selectAndCountTests,
    findByKeyHashTests,
    listTests,
    playlistSummaryTests,
    finishedCodesTests,
    watchTests,
    guessCounterTests,
    readyAndCloseTests,
    appendBatchTests,
    sequenceTests,
    eventTests,
    impressionTests,
    auditTests,
    activityTests,
    pageTests,
  ].flatMap((tests) => tests(open));
}
