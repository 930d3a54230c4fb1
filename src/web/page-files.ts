import { bindingInFragment } from '../player/pairing/player-link.ts';

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

/** Fragment of the address that opens the check instead of the player. */
export const checkFragment = '#check';

/** Names of the files of the check. The build inserts them. */
declare const CHECK_FILES: { script: string; style: string };

/** Loads `/player#check`. If that fails, engine.js says so, and reloads the page. */
export function loadCheck(): void {
  const style = document.createElement('link');
  style.rel = 'stylesheet';
  style.href = `player/${CHECK_FILES.style}`;
  const script = document.createElement('script');
  script.src = `player/${CHECK_FILES.script}`;
  document.head.append(style, script);
}

/**
 * Removes a code from the URL, so that a reload does not use the code again. A link with a key
 * stays in the URL, so that a reload uses it again.
 */
export function clearFragment(): void {
  if (location.hash !== '' && !bindingInFragment(location.hash))
    history.replaceState(null, '', location.pathname + location.search);
}
