export * from '../../src/testing/store-suite/sample-batch.ts';
