import { DeviceClient } from '../client/device-client.ts';
import { makeFetchRequester } from '../client/fetch-requester.ts';
import { dayMs, minuteMs, secondMs, systemClock } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { Player } from '../player/assembly/player.ts';
import type { PlayerObserver, UnpairedReason } from '../player/observer.ts';
import { bindingInFragment, stateOfLink } from '../player/pairing/player-link.ts';
import type { PlaybackFailure } from '../player/stage.ts';
import { readDeviceInfo } from './device-info.ts';
import { IdentityScreen } from './identity-screen.ts';
import { IdleScreen } from './idle-screen.ts';
import { isolatesPages } from './isolation.ts';
import { describeStart, FileReports } from './log-events.ts';
import { MediaBudget } from './media/media-budget.ts';
import { MediaLibrary } from './media/media-library.ts';
import { KeptMedia } from './media/media-store.ts';
import { playlistFiles } from './media/playlist-files.ts';
import { BindingCopy } from './memory/binding-copy.ts';
import { PlayerDatabase } from './memory/database.ts';
import { IndexedDbMemory } from './memory/indexed-db-memory.ts';
import {
  build,
  checkFragment,
  clearFragment,
  installServiceWorker,
  scriptUrl,
} from './page-files.ts';
import { askForCode } from './pairing/ask-for-code.ts';
import { KeptTicket } from './pairing/kept-ticket.ts';
import { codeInFragment } from './pairing/keypad.ts';
import { formatSeconds, pairingNotes } from './pairing/messages.ts';
import { PairingScreen } from './pairing/pairing-screen.ts';
import { describePanel } from './panel-report.ts';
import { CrashLoop } from './recovery/crash-loop.ts';
import { restWhileHidden } from './recovery/hidden-page.ts';
import { crashPauseMs } from './recovery/pauses.ts';
import { type LoadReason, Reloader, takeReloadId } from './recovery/reload.ts';
import { takeOver } from './recovery/single-tab.ts';
import { keepAwake } from './recovery/wake-lock.ts';
import { Watchdog } from './recovery/watchdog.ts';
import {
  type PlayerSettings,
  readPageSettings,
  startPixelShift,
} from './settings/page-settings.ts';
import { Rotation } from './settings/rotation.ts';
import { after, never } from './settings/timing.ts';
import { SoundReport } from './sound-report.ts';
import { ScreenStage } from './stage/screen-stage.ts';
import { Language } from './texts/language.ts';
import { fill } from './texts/phrase.ts';

const rotateEveryMs = 30 * dayMs;
const queueLimit = 200_000;
const retryDownloadsMs = 5 * minuteMs;
/** A watchdog outside the browser restarts a player that was not alive for 2 minutes. */
const aliveMs = 30 * secondMs;
/** Maximum time that the player has to send its events before a reload. */
const stopLimitMs = 5 * secondMs;

const now = () => systemClock.now();
const elementOf = (id: string) => document.getElementById(id) as HTMLElement;

/** The web player of this page: its parts, and what they tell each other. */
export class PagePlayer {
  readonly #serviceUrl = new URL('.', location.href).href.replace(/\/$/, '');
  readonly #pageUrl = `${this.#serviceUrl}/player`;
  readonly #started = describeStart(build);
  readonly #isolated = isolatesPages(scriptUrl);
  readonly #language = new Language();
  /** Made before the members that read the URL: it removes its part of it. */
  readonly #rotation = new Rotation(localStorage);
  readonly #ticket = new KeptTicket(localStorage);
  /** The key in the URL with which the page was opened. */
  readonly #link = bindingInFragment(location.hash);
  /** A code of the URL that was not used yet. */
  #firstCode = codeInFragment(location.hash);
  /** The key with which the player has started. */
  #startKey: string | undefined;
  readonly #fileReports = new FileReports((event) => this.#player.report(event));
  readonly #database = new PlayerDatabase();
  readonly #store = new KeptMedia(this.#database);
  readonly #budget = new MediaBudget(this.#store, now);
  readonly #memory = new IndexedDbMemory(this.#database, new BindingCopy(localStorage), () =>
    this.#budget.evictOne(),
  );
  readonly #library = new MediaLibrary(
    { store: this.#store, budget: this.#budget, now },
    (creativeUrl) =>
      this.#fileReports.note('media file not stored', { creativeUrl, cached: false }),
  );
  readonly #stage = new ScreenStage(elementOf('stage'), this.#library);
  readonly #soundReport = new SoundReport((event) => this.#player.report(event));
  readonly #screen = new PairingScreen(
    elementOf('panel'),
    this.#language,
    pairingNotes(this.#serviceUrl, window.isSecureContext),
    () => this.#player.withdrawCode(),
  );
  readonly #idle = new IdleScreen(elementOf('idle'), this.#language, localStorage);
  readonly #identity = new IdentityScreen(elementOf('identity'), this.#language);
  readonly #client = new DeviceClient({
    url: this.#serviceUrl,
    makeRequester: makeFetchRequester,
  });
  readonly #deviceInfo = readDeviceInfo(navigator.userAgent, build);
  readonly #player = new Player({
    client: this.#client,
    deviceInfo: this.#deviceInfo,
    memory: this.#memory,
    stage: this.#stage,
    // A player that was opened by a link keeps its first key, because the link contains that key.
    rotateEveryMs: this.#link ? undefined : rotateEveryMs,
    queueLimit,
    reloadId: takeReloadId(localStorage),
    nextCode: (why, error) => this.#nextCode(why, error),
    observer: this.#observer(),
  });
  readonly #reloader = new Reloader(localStorage, now, this.#pageUrl);
  readonly #watchdog = new Watchdog({
    reloader: this.#reloader,
    pageUrl: this.#pageUrl,
    build,
    isShowing: () => this.#stage.isShowing,
    isDue: () => this.#isDue(),
    reloadHours: () => this.#settings.reloadHours,
  });
  readonly #crashLoop = new CrashLoop(localStorage);
  #ended: Promise<unknown> = Promise.resolve();
  /** Aborted when another tab shows the player. */
  readonly #power = new AbortController();

  get #settings(): PlayerSettings {
    return readPageSettings(this.#player.state.config);
  }

  /** Plays until another tab takes over. */
  async run(): Promise<void> {
    this.#listen();
    await this.#load();
    await this.#pauseAfterCrashes();
    if (this.#power.signal.aborted) return;
    this.#ended = this.#player.run(this.#power.signal);
    restWhileHidden(this.#player, this.#stage, () => this.#onNext());
    // Ends the crash count after a minute, because an item may last a day.
    setTimeout(() => this.#crashLoop.end(), minuteMs);
    this.#stage.onNext = () => this.#onNext();
    this.#stage.onVisible = () => this.#idle.played();
    this.#watchdog.start();
    keepAwake();
    installServiceWorker(this.#pageUrl);
    await this.#ended;
  }

  /** Listens to the parts, the URL and other tabs, and starts what runs at intervals. */
  #listen(): void {
    this.#stage.onNoSubtitles = ({ creativeId, creativeUrl, subtitles }, reason) =>
      this.#fileReports.note('subtitles not shown', { creativeId, creativeUrl, subtitles, reason });
    // A video that was prepared with sound may begin after the config has ceased to want it.
    this.#stage.onSound = (isAllowed) => this.#soundReport.note(!isAllowed && this.#settings.sound);
    void this.#isolated.then((isIsolated) => {
      if (!isIsolated) this.#screen.addNote(({ frozen }) => frozen);
    });
    window.addEventListener('hashchange', () => this.#onFragment());
    takeOver(() => {
      this.#power.abort();
      this.#stage.clear();
      this.#screen.tell(({ otherTab }) => otherTab);
    });
    startPixelShift(elementOf('stage'), () => this.#settings.pixelShift);
    setInterval(() => this.#library.retryFailed(), retryDownloadsMs);
    setInterval(() => this.#database.noteAlive(now()).catch(() => {}), aliveMs);
  }

  /** Loads the saved state, or that of the link. */
  async #load(): Promise<void> {
    this.#startKey = (await this.#memory.load())?.binding?.apiKey;
    if (this.#link && this.#startKey === undefined) {
      await this.#memory.save(stateOfLink(this.#link));
      this.#startKey = this.#link.apiKey;
    }
    const { deviceId } = await this.#player.load();
    this.#applyConfig();
    if (deviceId === undefined) return;
    this.#ticket.forget();
    clearFragment();
    void this.#reportStart();
  }

  /** Waits if the player has crashed several times with an item to show. */
  async #pauseAfterCrashes(): Promise<void> {
    const pauseMs = this.#isDue() ? crashPauseMs(this.#crashLoop.begin()) : 0;
    if (pauseMs === 0) return;
    this.#screen.tell((texts) =>
      fill(texts.crashed, { time: formatSeconds(texts, pauseMs / secondMs) }),
    );
    await after(pauseMs);
    if (!this.#power.signal.aborted) this.#screen.hide();
  }

  /** Returns whether the playlist has an item to show now, and somebody can see it. */
  #isDue(): boolean {
    if (this.#power.signal.aborted || document.hidden) return false;
    const { playlist, validUntilMs = 0 } = this.#player.state;
    return playlist !== undefined && playlist.items.length > 0 && validUntilMs > now();
  }

  /** Reloads the page between two items, if the watchdog wants it. */
  #onNext(): void {
    if (this.#stage.isShowing) this.#crashLoop.end();
    this.#reload(this.#watchdog.wantedReload);
  }

  #reload(reason: LoadReason | undefined, reloadId?: string): void {
    if (!reason || this.#reloader.isReloading) return;
    const stop = async () => {
      this.#player.stop();
      await Promise.race([this.#ended, after(stopLimitMs)]);
    };
    void this.#reloader.reload(reason, stop, reloadId);
  }

  #onFragment(): void {
    const isNewLink = this.#ticket.take(this.#player.state.deviceId !== undefined);
    if (isNewLink || location.hash === checkFragment || bindingInFragment(location.hash)) {
      location.reload();
      return;
    }
    const code = codeInFragment(location.hash);
    clearFragment();
    if (!code || this.#screen.submit(code)) return;
    // A person opened a URL with a code while another code was delayed, or before the service had
    // rejected the stored key.
    this.#firstCode = code;
    this.#player.withdrawCode();
  }

  async #nextCode(
    why: UnpairedReason,
    error: SignageError | undefined,
  ): Promise<string | undefined> {
    const code = this.#firstCode;
    this.#firstCode = undefined;
    if (code !== undefined) return code;
    // The key of the link is newer than the key that the service has rejected.
    if (this.#link && this.#startKey !== this.#link.apiKey) {
      await this.#memory.save(stateOfLink(this.#link));
      location.reload();
      return never;
    }
    clearFragment();
    const of = { client: this.#client, deviceInfo: this.#deviceInfo, screen: this.#screen };
    return askForCode({ ...of, ticket: this.#ticket, identity: this.#identity }, why, error);
  }

  #observer(): PlayerObserver {
    return {
      onPhase: (phase) => {
        if (phase === 'registering') this.#screen.showProgress();
        this.#showIdle();
      },
      onFailure: (error) => {
        if (this.#player.state.deviceId !== undefined) return;
        const { message } = error as Error;
        const known =
          error instanceof SignageError ? error : new SignageError('internal_error', message);
        this.#screen.showDelay(known);
      },
      onBound: () => {
        this.#ticket.forget();
        clearFragment();
        this.#screen.hide();
        this.#idle.paired();
        this.#applyConfig();
        void this.#reportStart();
      },
      onAnswer: ({ operation, status }) => {
        if (operation === 'getDeviceConfig' && status === 200)
          setTimeout(() => this.#applyConfig(), 0);
      },
      onPlaylist: (playlist) => {
        this.#fileReports.clear();
        this.#library.want(playlistFiles(playlist));
        this.#idle.clearFailures();
        this.#showIdle();
      },
      onNoPlaylist: (place) => {
        this.#idle.waits(place);
        this.#showIdle();
      },
      onShow: () => this.#showIdle(),
      onIdentify: (identity) => this.#identity.show(identity),
      onReload: (reloadId) => this.#reload('asked', reloadId),
      onEvent: ({ type, creativeId, reason }) => {
        if (type !== 'playback_error') return;
        const { playlist } = this.#player.state;
        const item = playlist?.items.find((one) => one.creativeId === creativeId);
        if (item) this.#idle.failed(item, reason as PlaybackFailure);
        this.#showIdle();
      },
    };
  }

  #applyConfig(): void {
    const { sound, rotate, language } = this.#settings;
    this.#rotation.use(rotate);
    void this.#language.use(language ?? navigator.language);
    this.#stage.use(this.#settings);
    if (!sound) this.#soundReport.note(false);
    this.#budget.setPolicy(this.#player.state.config?.cachePolicy);
    this.#showIdle();
  }

  #showIdle(): void {
    const { deviceId, phase, playlist } = this.#player.state;
    this.#idle.update({
      isIdle: deviceId !== undefined && !this.#stage.isShowing,
      isReached: phase !== 'offline',
      hasPlaylist: playlist !== undefined,
      isBreak: playlist?.items.length === 0,
      setting: this.#settings.idle,
    });
  }

  async #reportStart(): Promise<void> {
    this.#player.report(await this.#started);
    this.#player.report(await describePanel(this.#isolated));
  }
}
