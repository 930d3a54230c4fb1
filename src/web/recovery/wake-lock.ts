/** Keeps the screen on while the page is visible. Browsers allow a wake lock only over HTTPS. */
export function keepAwake(): void {
  const request = () => {
    if (!document.hidden) navigator.wakeLock?.request('screen').catch(() => {});
  };
  document.addEventListener('visibilitychange', request);
  request();
}
