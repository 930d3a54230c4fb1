import { checkArgument } from '../../options/check-options.ts';
import { callable } from '../../options/shapes.ts';
import { appendBatchTests } from './append-batch-tests.ts';
import { activityTests, auditTests } from './audit-tests.ts';
import { eventTests } from './event-tests.ts';
import { guessCounterTests } from './guess-counter-tests.ts';
import { impressionTests } from './impression-tests.ts';
import { findByKeyHashTests, idsTests, selectAndCountTests, uniqueKeysTests } from './key-tests.ts';
import {
  endedRowsTests,
  finishedCodesTests,
  readyAndCloseTests,
  unusedContentsTests,
  watchTests,
} from './lifecycle-tests.ts';
import { listTests, playlistSummaryTests } from './list-tests.ts';
import { pageTests } from './page-tests.ts';
import { playTests } from './play-tests.ts';
import { sequenceTests } from './sequence-tests.ts';
import { type OpenEmptyStore, type StoreTest, type TestGroup, testGroup } from './store-test.ts';
import { writeTests } from './write-tests.ts';

/** The tests of each subject. */
const groups: Record<string, (group: TestGroup) => void> = {
  write: writeTests,
  'unique keys': uniqueKeysTests,
  'select and count': selectAndCountTests,
  ids: idsTests,
  findByKeyHash: findByKeyHashTests,
  list: listTests,
  playlistSummaries: playlistSummaryTests,
  endedRows: endedRowsTests,
  finishedCodes: finishedCodesTests,
  'supersededContents and unnamedContents': unusedContentsTests,
  watch: watchTests,
  'guess counters': guessCounterTests,
  'ready and close': readyAndCloseTests,
  appendBatch: appendBatchTests,
  'sequence numbers': sequenceTests,
  events: eventTests,
  impressions: impressionTests,
  plays: playTests,
  audit: auditTests,
  'last activity': activityTests,
  'a page of at most 1 MiB': pageTests,
};

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
  checkArgument('storeTests', 'open', callable, open);
  return Object.entries(groups).flatMap(([subject, define]) => testGroup(subject, open, define));
}
