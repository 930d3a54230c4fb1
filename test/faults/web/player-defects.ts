// Defects of the web player, each seeded in a copy of its source.

/** Test files of the web player, below test/e2e/web. */
type TestFile = 'offline' | 'pairing' | 'recovery' | 'showing';

export interface PlayerDefect {
  /** File below src. */
  file: string;
  /** Text of the source, and what replaces it. */
  from: string;
  to: string;
  /** The test that must fail, by its file and a part of its name. */
  test: [file: TestFile, name: string];
}

export const playerDefects: Readonly<Record<string, PlayerDefect>> = {
  'the watchdog never reloads': {
    file: 'web/recovery/watchdog.ts',
    from: 'this.#darkChecks > darkCheckLimit',
    to: 'this.#darkChecks < 0',
    test: ['recovery', 'reloads when nothing was shown'],
  },
  'a new build is never loaded': {
    file: 'web/recovery/watchdog.ts',
    from: 'this.#hasUpdate = await this.#isReplaced();',
    to: '',
    test: ['recovery', 'loads itself anew between two items'],
  },
  'two tabs play with one key': {
    file: 'web/recovery/single-tab.ts',
    from: '    onReplaced();',
    to: '',
    test: ['recovery', 'stops when another tab'],
  },
  'OK alone accepts an offer': {
    file: 'web/pairing/offer-question.ts',
    from: 'this.#select(false);',
    to: 'this.#select(true);',
    test: ['pairing', 'asks at the TV before it accepts'],
  },
  'a reload makes a new claim': {
    file: 'web/pairing/ask-for-code.ts',
    from: 'load: () => localStorage.getItem(claimItem) ?? undefined,',
    to: 'load: () => undefined,',
    test: ['pairing', 'asks at the TV before it accepts'],
  },
  'the code stays in the address': {
    file: 'web/start-player.ts',
    from: "if (location.hash !== '' &&",
    to: "if (location.hash === 'never' &&",
    test: ['pairing', 'pairs with the code of the URL'],
  },
  'a registration is repeated under another key': {
    file: 'player/pairing/pairing.ts',
    from: 'if (core.state.registering?.pairingCode !== pairingCode)',
    to: 'if (pairingCode)',
    test: ['pairing', 'repeats a registration with the same key'],
  },
  'the binding has no copy': {
    file: 'web/memory/binding-copy.ts',
    from: 'return text === null ? undefined',
    to: "return text !== '' ? undefined",
    test: ['offline', 'stays paired and plays when the browser deletes its databases'],
  },
  'an interrupted download begins anew': {
    file: 'web/media/download.ts',
    from: 'stored?.etag && stored.bytes > 0',
    to: 'stored?.etag && stored.bytes < 0',
    test: ['offline', 'continues an interrupted download'],
  },
  'a damaged file stays': {
    file: 'web/media/media-library.ts',
    from: 'void this.#download(file, true);',
    to: '',
    test: ['offline', 'downloads a file again that was stored before'],
  },
  'a withdrawn item stays on the glass': {
    file: 'web/stage/screen-stage.ts',
    from: '    this.#current?.dispose();\n    this.#current = undefined;\n    this.isShowing = false;',
    to: '    this.isShowing = false;',
    test: ['showing', 'clears the screen at once when the playlist is withdrawn'],
  },
  'a page of its own origin can read the key': {
    file: 'web/stage/page-layer.ts',
    from: "isForeign ? 'allow-scripts allow-same-origin' : 'allow-scripts'",
    to: "'allow-scripts allow-same-origin'",
    test: ['showing', 'keeps it away from the device key'],
  },
  'a page waits for the end of the current item': {
    file: 'web/stage/screen-stage.ts',
    from: "item.creativeType === 'html' && !isUrgent",
    to: "item.creativeType === 'html'",
    test: ['showing', 'shows a page in place of the current item at once'],
  },
  'a hidden page counts as seen': {
    file: 'web/stage/visible-time.ts',
    from: 'document.hidden ? undefined : now',
    to: 'now',
    test: ['showing', 'counts only the seconds in which the page is visible'],
  },
  'a host without ranges never delivers': {
    file: 'web/media/download.ts',
    from: "credentials: 'omit' }).catch(() => undefined);",
    to: "credentials: 'omit' });",
    test: ['offline', 'downloads a file from its beginning'],
  },
  'a delayed code cannot be left': {
    file: 'player/player.ts',
    from: 'this.#core.isCodeWithdrawn =',
    to: 'this.#core.isUrgent =',
    test: ['pairing', 'takes another one after Back'],
  },
  'a crash loop never pauses': {
    file: 'web/recovery/pauses.ts',
    from: 'starts < freeStarts',
    to: 'starts >= 0',
    test: ['recovery', 'waits before it starts again'],
  },
};
