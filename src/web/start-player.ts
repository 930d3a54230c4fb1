import { DeviceClient } from '../client/device-client.ts';
import { makeFetchRequester } from '../client/fetch-requester.ts';
import { dayMs, minuteMs, secondMs, systemClock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { pagesNotIsolated } from '../domain/events/web-player-log.ts';
import { Player } from '../player/assembly/player.ts';
import { bindingInFragment } from '../player/pairing/player-link.ts';
import type { PlaybackFailure } from '../player/stage.ts';
import type { PlayerBinding, PlayerState } from '../player/state.ts';
import { readDeviceInfo } from './device-info.ts';
import { IdleScreen } from './idle-screen.ts';
import { isolatesPages } from './isolation.ts';
import { describeStart, logEvent } from './log-events.ts';
import { MediaBudget } from './media/media-budget.ts';
import { MediaLibrary } from './media/media-library.ts';
import { KeptMedia } from './media/media-store.ts';
import { playlistFiles } from './media/playlist-files.ts';
import { BindingCopy } from './memory/binding-copy.ts';
import { PlayerDatabase } from './memory/database.ts';
import { IndexedDbMemory } from './memory/indexed-db-memory.ts';
import { askForCode } from './pairing/ask-for-code.ts';
import { codeInFragment } from './pairing/keypad.ts';
import { formatSeconds } from './pairing/messages.ts';
import { PairingScreen } from './pairing/pairing-screen.ts';
import { CrashLoop } from './recovery/crash-loop.ts';
import { crashPauseMs } from './recovery/pauses.ts';
import { Reloader } from './recovery/reload.ts';
import { takeOver } from './recovery/single-tab.ts';
import { keepAwake } from './recovery/wake-lock.ts';
import { Watchdog } from './recovery/watchdog.ts';
import { pixelShift, readPageSettings } from './settings/page-settings.ts';
import { after, never } from './settings/timing.ts';
import { SoundReport } from './sound-report.ts';
import { ScreenStage } from './stage/screen-stage.ts';

const rotateEveryMs = 30 * dayMs;
const queueLimit = 200_000;
const shiftMs = 10 * minuteMs;
const retryMs = 30 * secondMs;
const retryDownloadsMs = 5 * minuteMs;
/** A watchdog outside the browser restarts a player that was not alive for 2 minutes. */
const aliveMs = 30 * secondMs;
/** Maximum time that the player has to send its events before a reload. */
const stopLimitMs = 5 * secondMs;

const elementOf = (id: string) => document.getElementById(id) as HTMLElement;

/**
 * Returns the name of the running script, such as `app.<hash>.js`. The name has no hash if the
 * script is not bundled.
 */
const buildOf = (url: string) => /app\.[0-9a-f]+\.js/.exec(url)?.[0] ?? 'app.js';
// Read here, because `currentScript` is only set while the script is evaluated.
const scriptUrl = (document.currentScript as HTMLScriptElement).src;
const build = buildOf(scriptUrl);

/**
 * Removes a code from the URL, so that a reload does not use the code again. A link with a key
 * stays in the URL, so that a reload uses it again.
 */
function clearFragment(): void {
  if (location.hash !== '' && !bindingInFragment(location.hash))
    history.replaceState(null, '', location.pathname + location.search);
}

/**
 * Installs the Service Worker. Browsers allow one only over HTTPS, and from the loopback address.
 */
function installServiceWorker(pageUrl: string): void {
  navigator.serviceWorker
    ?.register(`${pageUrl}/sw.js`, { scope: pageUrl, updateViaCache: 'none' })
    .catch(() => {});
}

/**
 * Returns the saved state of a player that got its key by a link. Such a player does not number its
 * events.
 */
const stateOf = (binding: PlayerBinding): PlayerState => ({
  format: 1,
  binding,
  nextSeq: null,
  queue: [],
});

async function runPlayer(): Promise<void> {
  const serviceUrl = new URL('.', location.href).href.replace(/\/$/, '');
  const pageUrl = `${serviceUrl}/player`;
  const now = () => systemClock.now();
  const started = describeStart(build);
  const isolated = isolatesPages(scriptUrl);
  const database = new PlayerDatabase();
  const store = new KeptMedia(database);
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
  const soundReport = new SoundReport((event) => player.report(event));
  stage.onSound = (isAllowed) => soundReport.note(!isAllowed);
  const screen = new PairingScreen(
    elementOf('panel'),
    [
      `Get a code with: signage pair Venue/Screen --url ${serviceUrl}`,
      ...(window.isSecureContext ? [] : ['Without HTTPS, this TV needs the network to start.']),
    ],
    () => player.withdrawCode(),
  );
  void isolated.then((isIsolated) => {
    if (!isIsolated) screen.addNote('In this browser, a web page can freeze the player.');
  });
  const idle = new IdleScreen(elementOf('idle'), localStorage);
  const showIdle = () => {
    const { deviceId, phase, playlist, config } = player.state;
    idle.update({
      isIdle: deviceId !== undefined && !stage.isShowing,
      isReached: phase !== 'offline',
      hasPlaylist: playlist !== undefined,
      isBreak: playlist?.items.length === 0,
      setting: readPageSettings(config).idle,
    });
  };
  const link = bindingInFragment(location.hash);
  let startKey: string | undefined;
  let firstCode = codeInFragment(location.hash);

  const applyConfig = () => {
    const { config } = player.state;
    const { fit, sound, background } = readPageSettings(config);
    stage.look = { fit, sound };
    if (!sound) soundReport.note(false);
    elementOf('stage').style.background = background;
    budget.setPolicy(config?.cachePolicy);
    showIdle();
  };
  const client = new DeviceClient({ url: serviceUrl, makeRequester: makeFetchRequester });
  const deviceInfo = readDeviceInfo(navigator.userAgent, build);

  const reportStart = async () => {
    player.report(await started);
    if (!(await isolated)) player.report(logEvent(pagesNotIsolated, {}));
  };
  const player = new Player({
    client,
    deviceInfo,
    memory,
    stage,
    // A player that was opened by a link keeps its first key, because the link contains that key.
    rotateEveryMs: link ? undefined : rotateEveryMs,
    queueLimit,
    async nextCode(why, error) {
      const code = firstCode;
      firstCode = undefined;
      if (code !== undefined) return code;
      // The key of the link is newer than the key that the service has rejected.
      if (link && startKey !== link.apiKey) {
        await memory.save(stateOf(link));
        location.reload();
        return never;
      }
      clearFragment();
      return askForCode({ client, deviceInfo, screen }, why, error);
    },
    observer: {
      onPhase(phase) {
        if (phase === 'registering') screen.showProgress();
        showIdle();
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
        idle.paired();
        applyConfig();
        void reportStart();
      },
      onAnswer({ operation, status }) {
        if (operation === 'getDeviceConfig' && status === 200) setTimeout(applyConfig, 0);
      },
      onPlaylist(playlist) {
        uncached.clear();
        library.want(playlistFiles(playlist));
        idle.clearFailures();
        showIdle();
      },
      onNoPlaylist(place) {
        idle.waits(place);
        showIdle();
      },
      onShow() {
        showIdle();
      },
      onEvent({ type, creativeId, reason }) {
        if (type !== 'playback_error') return;
        const item = player.state.playlist?.items.find((one) => one.creativeId === creativeId);
        if (item) idle.failed(item, reason as PlaybackFailure);
        showIdle();
      },
    },
  });
  window.addEventListener('hashchange', () => {
    if (bindingInFragment(location.hash)) return location.reload();
    const code = codeInFragment(location.hash);
    clearFragment();
    if (!code || screen.submit(code)) return;
    // A person opened a URL with a code while another code was delayed, or before the service had
    // rejected the stored key.
    firstCode = code;
    player.withdrawCode();
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
  const isDue = () => {
    if (power.signal.aborted) return false;
    const { playlist, validUntilMs = 0 } = player.state;
    return playlist !== undefined && playlist.items.length > 0 && validUntilMs > now();
  };
  const watchdog = new Watchdog({
    reloader,
    pageUrl,
    build,
    isShowing: () => stage.isShowing,
    isDue,
    reloadHours: () => readPageSettings(player.state.config).reloadHours,
  });
  let shiftStep = 0;
  setInterval(() => {
    const { x, y } = pixelShift(shiftStep++);
    const isOn = readPageSettings(player.state.config).pixelShift;
    elementOf('stage').style.transform = isOn ? `translate(${x}px, ${y}px)` : '';
  }, shiftMs);

  setInterval(() => library.retryFailed(), retryDownloadsMs);
  setInterval(() => database.noteAlive(now()).catch(() => {}), aliveMs);

  startKey = (await memory.load())?.binding?.apiKey;
  if (link && startKey === undefined) {
    await memory.save(stateOf(link));
    startKey = link.apiKey;
  }
  const { deviceId } = await player.load();
  applyConfig();
  if (deviceId !== undefined) {
    clearFragment();
    void reportStart();
  }
  const crashLoop = new CrashLoop(localStorage);
  const pauseMs = isDue() ? crashPauseMs(crashLoop.begin()) : 0;
  if (pauseMs > 0) {
    screen.tell(
      `The player crashed several times. It starts again in ${formatSeconds(pauseMs / secondMs)}.`,
    );
    await after(pauseMs);
    if (power.signal.aborted) return;
    screen.hide();
  }
  const ended = player.run(power.signal);
  // Ends the crash count after a minute, because an item may last a day.
  setTimeout(() => crashLoop.end(), minuteMs);
  stage.onNext = () => {
    if (stage.isShowing) crashLoop.end();
    const reason = watchdog.wantedReload;
    if (!reason || reloader.isReloading) return;
    void reloader.reload(reason, async () => {
      player.stop();
      await Promise.race([ended, after(stopLimitMs)]);
    });
  };
  stage.onVisible = () => idle.played();
  watchdog.start();
  keepAwake();
  installServiceWorker(pageUrl);
  await ended;
}

/** Starts the web player on this page. Reloads the page later if the player cannot start. */
export async function startPlayer(): Promise<void> {
  try {
    await runPlayer();
  } catch (error) {
    const panel = elementOf('panel');
    panel.textContent = `The player cannot use the storage of this browser: ${(error as Error).message}`;
    panel.hidden = false;
    setTimeout(() => location.reload(), retryMs);
  }
}
