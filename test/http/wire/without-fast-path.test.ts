import { afterAll, afterEach, vi } from 'vitest';

// Runs the tests of the fast-path endpoints over the app as well. The modules are reset because a
// module registers its tests only when it is first loaded. Later test files must not get the
// modules loaded here.
vi.resetModules();
const { endFile, endTest } = await import('../../support/clean-up.ts');
afterAll(endFile);
afterEach(endTest);
const { disableFastPath } = await import('../../support/service.ts');
disableFastPath();
await import('../playlists/playlist.test.ts');
await import('../runtime/device-config.test.ts');
await import('../runtime/events.test.ts');
await import('../runtime/device-key.test.ts');
await import('./order-of-checks.test.ts');
vi.resetModules();
