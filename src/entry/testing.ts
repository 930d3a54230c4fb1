/// <reference types="node" preserve="true" />
// `signage-kit/testing`: a service, a clock and data for tests. No test framework is needed.
export { sampleDeviceInfo, sampleImpressions, samplePlaylist } from '../testing/fixtures.ts';
export {
  startService,
  type TestRequest,
  type TestService,
  type TestServiceOptions,
  type TestTv,
} from '../testing/start-service.ts';
export type {
  OpenEmptyStore,
  StoreTest,
  StoreUnderTest,
} from '../testing/store-suite/store-test.ts';
export { storeTests } from '../testing/store-suite/store-tests.ts';
export { TestClock, testClock } from '../testing/test-clock.ts';
