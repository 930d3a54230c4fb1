// Runs anew for each file of tests.
import { afterAll, afterEach } from 'vitest';
import { endFile, endTest } from '../support/clean-up.ts';

afterAll(endFile);
afterEach(endTest);
