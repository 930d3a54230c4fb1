import { takePlainWay } from '../support/service.ts';

// The hot requests have two ways in (src/http/hot/). Their tests run over the quick one in their own files, and here over the app.
takePlainWay();
await import('./playlist.test.ts');
await import('./device-config.test.ts');
await import('./events.test.ts');
await import('./device-key.test.ts');
await import('./order-of-checks.test.ts');
