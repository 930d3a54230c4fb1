import { afterAll, afterEach, vi } from 'vitest';

// The hot requests have two ways in (src/http/hot/). Their tests run over the quick one in their own files, and here over the app: each as a module of its
// own, for what is loaded already has said its tests, and what is loaded here must not be met by the files that come later.
vi.resetModules();
const { endFile, endTest } = await import('../support/clean-up.ts');
afterAll(endFile);
afterEach(endTest);
const { takePlainWay } = await import('../support/service.ts');
takePlainWay();
await import('./playlist.test.ts');
await import('./device-config.test.ts');
await import('./events.test.ts');
await import('./device-key.test.ts');
await import('./order-of-checks.test.ts');
vi.resetModules();
