// Shows on the screen why the player cannot start. Plain ES5, because browsers that are too old for
// the player must be able to run it. The content security policy forbids an inline script. The
// script has no `nomodule`, because new browsers also need it: it reloads the page if the player's
// own script does not arrive.
(function () {
  var retryMs = 15000;
  var tooOld = [
    'The player needs Chromium 63 or a newer browser, as in webOS 5 and Tizen 5.0.',
    'This browser is:',
    navigator.userAgent
  ].join(' ');
  var failure = '';

  function tell() {
    var notice = document.getElementById('notice');
    if (notice && failure) notice.textContent = failure;
  }

  function fail(text) {
    if (!failure) failure = text;
    tell();
  }

  // Returns whether the player has taken over. The player then reports its own errors.
  function hasStarted() {
    return document.documentElement.getAttribute('data-started') !== null;
  }

  function reload() {
    window.location.reload();
  }

  function onError(event) {
    if (hasStarted()) return;
    if (event.target && event.target.nodeName === 'SCRIPT') {
      fail('The player could not be loaded from the service. Trying again …');
      window.setTimeout(reload, retryMs);
    } else if (event.message) fail([tooOld, event.message].join(' '));
  }

  var isSupported =
    typeof window.Promise === 'function' &&
    typeof window.fetch === 'function' &&
    typeof window.indexedDB === 'object' &&
    typeof window.URLSearchParams === 'function' &&
    typeof Object.entries === 'function' &&
    typeof String.prototype.padStart === 'function' &&
    'noModule' in document.createElement('script');
  if (!isSupported) {
    fail(tooOld);
    document.documentElement.setAttribute('data-too-old', '');
  }
  window.addEventListener('error', onError, true);
  document.addEventListener('DOMContentLoaded', tell);
})();
