// Read here, because `currentScript` is only set while the script is evaluated.
export const scriptUrl = (document.currentScript as HTMLScriptElement).src;

/** Name of the running script, such as `app.<hash>.js`. It has no hash if it is not bundled. */
export const build = /app\.[0-9a-f]+\.js/.exec(scriptUrl)?.[0] ?? 'app.js';

/**
 * Installs the Service Worker. Browsers allow one only over HTTPS, and from the loopback address.
 */
export function installServiceWorker(pageUrl: string): void {
  navigator.serviceWorker
    ?.register(`${pageUrl}/sw.js`, { scope: pageUrl, updateViaCache: 'none' })
    .catch(() => {});
}
