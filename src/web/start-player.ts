import { DeviceClient } from '../client/device-client.ts';
import type { ClaimOffer, EventInput } from '../client/entities.ts';
import { makeFetchRequester } from '../client/fetch-requester.ts';
import { dayMs, minuteMs, secondMs, systemClock, systemRandom } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { UnpairedReason } from '../player/observer.ts';
import { type ClaimKeyMemory, offeredCode } from '../player/pairing/claim.ts';
import { bindingInFragment } from '../player/pairing/player-link.ts';
import { Player } from '../player/player.ts';
import { readDeviceInfo } from './device-info.ts';
import { MediaBudget, storageQuota } from './media/media-budget.ts';
import { MediaLibrary } from './media/media-library.ts';
import { MediaStore } from './media/media-store.ts';
import { filesOf } from './media/playlist-files.ts';
import { BindingCopy } from './memory/binding-copy.ts';
import { PlayerDatabase } from './memory/database.ts';
import { IndexedDbMemory } from './memory/indexed-db-memory.ts';
import { pixelShift, readSettings } from './page-settings.ts';
import { codeInFragment } from './pairing/keypad.ts';
import { explainDelay, explainNoClaim } from './pairing/messages.ts';
import { PairingScreen } from './pairing/pairing-screen.ts';
import { Reloader, takeLoadReason } from './recovery/reload.ts';
import { takeOver } from './recovery/single-tab.ts';
import { keepAwake } from './recovery/wake-lock.ts';
import { Watchdog } from './recovery/watchdog.ts';
import { ScreenStage } from './stage/screen-stage.ts';

const rotateEveryMs = 30 * dayMs;
const queueLimit = 200_000;
const shiftMs = 10 * minuteMs;
const retryMs = 30 * secondMs;
/** Longest time that the player may take to send its events before a reload. */
const stopLimitMs = 5 * secondMs;
/** How long an offer is shown that needs no answer. */
const offerShownMs = 3 * secondMs;
const claimItem = 'signage-player-claim';

const elementOf = (id: string) => document.getElementById(id) as HTMLElement;

/** Name of this script without its hash when it is not bundled. */
const buildOf = (script: HTMLScriptElement | SVGScriptElement | null) =>
  /app\.[0-9a-f]+\.js/.exec(script?.getAttribute('src') ?? '')?.[0] ?? 'app.js';
// `currentScript` is only known while the script is evaluated.
const build = buildOf(document.currentScript);

/**
 * Removes a code from the URL, so that a reload does not use it again. A link with a key stays: the
 * player opens it at each start.
 */
function clearFragment(): void {
  if (location.hash !== '' && !bindingInFragment(location.hash))
    history.replaceState(null, '', location.pathname + location.search);
}

/** Keeps the key of the claim, so that the page shows the same claim after a reload. */
const claimKey: ClaimKeyMemory = {
  load: () => localStorage.getItem(claimItem) ?? undefined,
  save: (key) =>
    key === undefined ? localStorage.removeItem(claimItem) : localStorage.setItem(claimItem, key),
};

/** Returns an event of the type `log`, whose further members are kept as they are. */
const logEvent = (message: string, more: object): EventInput => ({
  type: 'log',
  timestamp: Math.floor(systemClock.now() / secondMs),
  message,
  ...more,
});

async function describeStart(): Promise<EventInput> {
  const persisted = await navigator.storage?.persist?.().catch(() => false);
  return logEvent('web player started', {
    build,
    userAgent: navigator.userAgent.slice(0, 500),
    reason: takeLoadReason(localStorage),
    isSecure: window.isSecureContext,
    isPersisted: persisted === true,
    quotaBytes: (await storageQuota()) ?? null,
  });
}

/** Installs the Service Worker, which browsers allow over HTTPS and from this machine only. */
function installServiceWorker(pageUrl: string): void {
  navigator.serviceWorker
    ?.register(`${pageUrl}/sw.js`, { scope: pageUrl, updateViaCache: 'none' })
    .catch(() => {});
}

/** Starts the web player on this page. */
export async function startPlayer(): Promise<void> {
  const serviceUrl = new URL('.', location.href).href.replace(/\/$/, '');
  const pageUrl = `${serviceUrl}/player`;
  const now = () => systemClock.now();
  const started = describeStart();
  const database = new PlayerDatabase();
  const store = new MediaStore(database);
  const budget = new MediaBudget(store, now);
  const memory = new IndexedDbMemory(database, new BindingCopy(localStorage), () =>
    budget.evictOne(),
  );
  const uncached = new Set<string>();
  const library = new MediaLibrary({ store, budget, now }, (creativeUrl) => {
    if (uncached.has(creativeUrl)) return;
    uncached.add(creativeUrl);
    player.report(logEvent('media file not stored', { creativeUrl, cached: false }));
  });
  const stage = new ScreenStage(elementOf('stage'), library);
  const screen = new PairingScreen(elementOf('panel'), [
    `Get a code with: signage pair Venue/Screen --url ${serviceUrl}`,
    ...(window.isSecureContext ? [] : ['Without HTTPS, this TV needs the network to start.']),
  ]);
  const link = bindingInFragment(location.hash);
  let firstCode = codeInFragment(location.hash);

  const applyConfig = () => {
    const { config } = player.state;
    const { fit, sound, background } = readSettings(config);
    stage.look = { fit, sound };
    elementOf('stage').style.background = background;
    budget.setPolicy(config?.cachePolicy);
  };
  const client = new DeviceClient({ url: serviceUrl, makeRequester: makeFetchRequester });
  const deviceInfo = readDeviceInfo(navigator.userAgent, build);

  /** Shows an offer, and asks if the service wants it. */
  async function accept(offer: ClaimOffer): Promise<boolean> {
    if (offer.confirm) return screen.confirm(offer);
    screen.tell(`This TV becomes ${offer.venue}/${offer.screen} of ${offer.tenant}.`);
    await new Promise((resolve) => setTimeout(resolve, offerShownMs));
    return true;
  }

  /** Resolves with the code that a person types, or that an installer offers to this TV's claim. */
  async function askForCode(why: UnpairedReason, error: SignageError | undefined) {
    const ending = new AbortController();
    const typed = screen.ask(why, error);
    offeredCode({
      client,
      deviceInfo,
      clock: systemClock,
      random: systemRandom,
      keyMemory: claimKey,
      onClaim: (claim) => screen.showClaim(claim),
      onFailure: (error) => screen.showNoClaim(explainDelay(error)),
      accept,
      signal: ending.signal,
    }).then(
      (code) => screen.submit(code),
      // Without a claim, a person types the code.
      (error) => screen.showNoClaim(explainNoClaim(error)),
    );
    try {
      return await typed;
    } finally {
      ending.abort();
      screen.showNoClaim();
    }
  }

  const player = new Player({
    client,
    deviceInfo,
    memory,
    stage,
    // A link keeps the first key.
    rotateEveryMs: link ? undefined : rotateEveryMs,
    queueLimit,
    async nextCode(why, error) {
      const code = firstCode;
      firstCode = undefined;
      if (code !== undefined) return code;
      clearFragment();
      return askForCode(why, error);
    },
    observer: {
      onPhase(phase) {
        if (phase === 'registering') screen.showProgress();
      },
      onFailure(error) {
        if (player.state.deviceId !== undefined) return;
        const { message } = error as Error;
        const known =
          error instanceof SignageError ? error : new SignageError('internal_error', message);
        screen.showDelay(known);
      },
      onBound() {
        clearFragment();
        screen.hide();
        applyConfig();
        void started.then((event) => player.report(event));
      },
      onAnswer({ operation, status }) {
        if (operation === 'getDeviceConfig' && status === 200) setTimeout(applyConfig, 0);
      },
      onPlaylist(playlist) {
        uncached.clear();
        library.want(filesOf(playlist));
      },
    },
  });
  window.addEventListener('hashchange', () => {
    const code = codeInFragment(location.hash);
    if (code && player.state.deviceId === undefined) screen.submit(code);
    else clearFragment();
  });

  const power = new AbortController();
  takeOver(() => {
    power.abort();
    stage.clear();
    screen.tell(
      'Another tab of this browser shows the player now. Reload this page to show it here.',
    );
  });
  const reloader = new Reloader(localStorage, now, pageUrl);
  const watchdog = new Watchdog({
    reloader,
    pageUrl,
    build,
    isShowing: () => stage.isShowing,
    isDue() {
      const { playlist, validUntilMs = 0 } = player.state;
      return playlist !== undefined && playlist.items.length > 0 && validUntilMs > now();
    },
    reloadHours: () => readSettings(player.state.config).reloadHours,
  });
  let shiftStep = 0;
  setInterval(() => {
    const { x, y } = pixelShift(shiftStep++);
    const isOn = readSettings(player.state.config).pixelShift;
    elementOf('stage').style.transform = isOn ? `translate(${x}px, ${y}px)` : '';
  }, shiftMs);

  try {
    if (link && (await memory.load())?.binding === undefined)
      await memory.save({ format: 1, binding: link, nextSeq: null, queue: [] });
    const { deviceId } = await player.load();
    applyConfig();
    if (deviceId !== undefined) {
      clearFragment();
      void started.then((event) => player.report(event));
    }
    const ended = player.run(power.signal);
    stage.onNext = () => {
      const reason = watchdog.wantedReload;
      if (!reason || reloader.isReloading) return;
      void reloader.reload(reason, async () => {
        player.stop();
        await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, stopLimitMs))]);
      });
    };
    watchdog.start();
    keepAwake();
    installServiceWorker(pageUrl);
    await ended;
  } catch (error) {
    screen.tell(`The player cannot use the storage of this browser: ${(error as Error).message}`);
    setTimeout(() => location.reload(), retryMs);
  }
}
