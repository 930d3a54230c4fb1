// Vitest runs this setup once for each test file.
import { afterAll, afterEach } from 'vitest';
import { endFile, endTest } from '../support/runtime/clean-up.ts';

afterAll(endFile);
afterEach(endTest);
