/**
 * Installs the Service Worker. Browsers allow one only over HTTPS, and from the loopback address.
 */
export function installServiceWorker(pageUrl: string): void {
  navigator.serviceWorker
    ?.register(`${pageUrl}/sw.js`, { scope: pageUrl, updateViaCache: 'none' })
    .catch(() => {});
}
