export * from '../../src/testing/store-suite/sample-rows.ts';
