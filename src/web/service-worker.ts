// Serves the page and its files, so that the player starts without a network. Media are in
// IndexedDB, because the Cache API cannot answer range requests of a video.

/** The members of `ServiceWorkerGlobalScope` that this file uses. */
interface WorkerScope {
  readonly location: { readonly href: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: Lifecycle) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void;
}
interface Lifecycle {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Lifecycle {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** Names of the other files that the page loads. The build inserts the names. */
declare const SHELL_FILES: readonly string[];
/** Names of the files that the player loads later, if it needs them. */
declare const LAZY_FILES: readonly string[];

const scope = self as unknown as WorkerScope;
const pageUrl = new URL('../player', scope.location.href).href;
const fileUrls = [...SHELL_FILES, ...LAZY_FILES].map(
  (file) => new URL(file, scope.location.href).href,
);
const prefix = 'signage-player ';
const cacheName = prefix + SHELL_FILES.join(' ');
/** Maximum wait of a page load for the network. After this time, the stored page is loaded. */
const patienceMs = 4000;

async function install(): Promise<void> {
  const page = await fetch(pageUrl, { cache: 'no-store' });
  const html = await page.clone().text();
  // During an update of the service, the page may already belong to the next build.
  if (!SHELL_FILES.every((file) => html.includes(file)))
    throw new Error('The page belongs to another build.');
  const cache = await caches.open(cacheName);
  await cache.addAll([...fileUrls]);
  await cache.put(pageUrl, page);
  await scope.skipWaiting();
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(prefix) && name !== cacheName);
  await Promise.all(old.map((name) => caches.delete(name)));
  await scope.clients.claim();
}

function failAfter(delayMs: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('The network is too slow.')), delayMs);
  });
}

/**
 * Returns the page from the network, so that a new build starts at once. Otherwise returns the
 * stored page.
 */
async function loadPage(): Promise<Response> {
  try {
    const response = await Promise.race([
      fetch(pageUrl, { cache: 'no-store' }),
      failAfter(patienceMs),
    ]);
    if (response.ok) return response;
    throw new Error(`The service answered ${response.status}.`);
  } catch {
    return (await caches.match(pageUrl)) ?? Response.error();
  }
}

async function loadFile(request: Request): Promise<Response> {
  return (await caches.match(request.url)) ?? fetch(request);
}

scope.addEventListener('install', (event) => event.waitUntil(install()));
scope.addEventListener('activate', (event) => event.waitUntil(activate()));
scope.addEventListener('fetch', (event) => {
  const { url, mode } = event.request;
  const address = url.replace(/[?#].*$/, '');
  if (mode === 'navigate' && address === pageUrl) event.respondWith(loadPage());
  else if (fileUrls.includes(address)) event.respondWith(loadFile(event.request));
});
