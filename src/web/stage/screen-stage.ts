import type { PlaylistItem } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import { unlessAborted } from '../../domain/concurrency.ts';
import { creativeKey } from '../../player/playing/lookahead.ts';
import type { PlaybackFailure, Shown, Stage } from '../../player/stage.ts';
import type { MediaLibrary } from '../media/media-library.ts';
import { expectedMedia, subtitlesOf } from '../media/playlist-files.ts';
import type { PlayerSettings } from '../settings/page-settings.ts';
import { after } from '../settings/timing.ts';
import { makeImageLayer } from './image-layer.ts';
import type { Layer } from './layer.ts';
import { makePageLayer } from './page-layer.ts';
import { showSubtitles } from './subtitles.ts';
import { VideoLayer, VideoPool } from './video-layer.ts';

/** Maximum time until an item that is due shows its first frame. */
const startLimitMs = 9 * secondMs;
/**
 * Maximum wait for a download. After this time, the stage loads the file from the file's own URL.
 */
const patienceMs = 3 * secondMs;
/**
 * Maximum wait of a video for a decoder. After this time, the stage removes the visible video to
 * free its decoder.
 */
const decoderPatienceMs = secondMs;
/**
 * Time before its display at which a web page is loaded. It is short, because the animations of a
 * page begin at once.
 */
const pageLeadMs = 5 * secondMs;
/** Maximum time to load a page that is due. After this time, the stage loads the page again. */
const pagePatienceMs = 4 * secondMs;
/** Time after which Chromium has ended the blocked process of a removed page. */
const processEndMs = 2.5 * secondMs;

/** An item that is being prepared, or is ready. */
interface Prepared {
  key: string;
  item: PlaylistItem;
  sinceMs: number;
  layer: Promise<Layer | PlaybackFailure>;
  controller: AbortController;
}

const isLayer = (made: Layer | PlaybackFailure): made is Layer => typeof made === 'object';

/** Resolves after the browser has painted, or after one second. */
async function painted(): Promise<void> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await Promise.race([frame().then(frame), after(secondMs)]);
}

/** The screen of the TV. The visible item stays until a frame of the next item is decoded. */
export class ScreenStage implements Stage {
  /** Whether an item has become visible since the last `clear`. */
  isShowing = false;
  /** Called before each item. At that moment, a reload of the page disturbs least. */
  onNext: () => void = () => {};
  /** Called when an item has become visible. */
  onVisible: () => void = () => {};
  /** Called when a video with sound begins, with whether the browser allows the sound. */
  onSound: (isAllowed: boolean) => void = () => {};
  /** Called when the subtitles of a video cannot be shown. */
  onNoSubtitles: (item: PlaylistItem, reason: PlaybackFailure) => void = () => {};
  readonly #root: HTMLElement;
  readonly #library: MediaLibrary;
  readonly #videos: VideoPool;
  #hasSound = false;
  #prepared: Prepared | undefined;
  #current: Layer | undefined;
  #starting: Promise<void> = Promise.resolve();
  #endsAtMs = 0;

  constructor(root: HTMLElement, library: MediaLibrary) {
    this.#root = root;
    this.#library = library;
    this.#videos = new VideoPool(root);
  }

  /** Applies settings at once, except for the sound of videos that are loaded. */
  use({ fit, sound, background }: PlayerSettings): void {
    this.#hasSound = sound;
    this.#root.style.background = background;
    this.#root.style.setProperty('--fit', fit);
  }

  async prepare(
    item: PlaylistItem,
    signal: AbortSignal,
    isUrgent: boolean,
  ): Promise<PlaybackFailure | undefined> {
    // The due item gets the decoder and the network first.
    await unlessAborted(this.#starting, signal);
    if (this.#prepared?.key !== creativeKey(item)) {
      this.#dropPrepared();
      if (item.creativeType === 'html' && !isUrgent) await this.#waitForLead(signal);
    }
    if (signal.aborted) return undefined;
    const prepared = this.#prepare(item);
    const layer = await unlessAborted(prepared.layer, signal);
    if (layer === undefined) return undefined;
    const failure = isLayer(layer) ? await unlessAborted(layer.ready, signal) : layer;
    if (failure) this.#doubt(item);
    // Drops the failed item, so that the next attempt begins anew.
    if (failure && this.#prepared === prepared) this.#dropPrepared();
    return failure;
  }

  async show(
    item: PlaylistItem,
    forMs: number,
    signal: AbortSignal,
    onVisible: () => void,
  ): Promise<Shown> {
    this.onNext();
    const prepared = this.#prepare(item);
    this.#prepared = undefined;
    const limit = new AbortController();
    const giveUp = () => limit.abort();
    const timer = setTimeout(giveUp, startLimitMs);
    signal.addEventListener('abort', giveUp);
    const starting = unlessAborted(this.#start(prepared, forMs, limit.signal), limit.signal);
    this.#starting = starting.then(() => {});
    const started = await starting;
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    if (started !== undefined && isLayer(started)) {
      onVisible();
      return this.#play(started, forMs, signal);
    }
    this.#drop(prepared);
    if (signal.aborted) return { playedMs: 0, failure: undefined };
    this.#doubt(item);
    const late = item.creativeType === 'html' ? 'hung' : 'stalled';
    return { playedMs: 0, failure: started ?? late };
  }

  clear(): void {
    this.#dropPrepared();
    this.#current?.dispose();
    this.#current = undefined;
    this.isShowing = false;
  }

  /** Ends the sound of a video. Its picture stays until the next item is ready. */
  silence(): void {
    const element = this.#current?.element;
    if (element instanceof HTMLVideoElement) element.pause();
  }

  /** Downloads the item's file again, because the stored file may be damaged. */
  #doubt(item: PlaylistItem): void {
    if (item.creativeType !== 'html') this.#library.doubt(expectedMedia(item));
  }

  /** Waits until the visible item has only the lead time left. */
  async #waitForLead(signal: AbortSignal): Promise<void> {
    const waitMs = this.#current ? this.#endsAtMs - performance.now() - pageLeadMs : 0;
    if (waitMs > 0) await unlessAborted(after(waitMs), signal);
  }

  #prepare(item: PlaylistItem): Prepared {
    const key = creativeKey(item);
    if (this.#prepared?.key === key) return this.#prepared;
    this.#dropPrepared();
    const controller = new AbortController();
    const sinceMs = performance.now();
    const layer = this.#makeLayer(item, controller.signal);
    this.#prepared = { key, item, sinceMs, controller, layer };
    return this.#prepared;
  }

  async #makeLayer(item: PlaylistItem, signal: AbortSignal): Promise<Layer | PlaybackFailure> {
    const { creativeUrl, creativeType, storage } = item;
    const isMixed = location.protocol === 'https:' && creativeUrl.startsWith('http:');
    if (creativeType === 'html') {
      return isMixed ? 'mixed_content' : makePageLayer(this.#root, creativeUrl, storage === true);
    }
    const source = await this.#library.open(expectedMedia(item), patienceMs, signal);
    if (typeof source === 'string') return source;
    const video = creativeType === 'video' ? this.#videos.take() : undefined;
    if (signal.aborted || (creativeType === 'video' && !video)) {
      if (video) this.#videos.giveBack(video);
      source.release();
      return 'stalled';
    }
    if (!video) return makeImageLayer(this.#root, source);
    const layer = new VideoLayer(this.#videos, video, source, this.#hasSound, (isAllowed) =>
      this.onSound(isAllowed),
    );
    this.#addSubtitles(item, layer);
    return layer;
  }

  #addSubtitles(item: PlaylistItem, { element, signal }: VideoLayer): void {
    const file = subtitlesOf(item);
    if (!file) return;
    const opening = this.#library.open(file, patienceMs, signal);
    void showSubtitles(element, opening, signal, (reason) => {
      if (reason === 'not_media') this.#library.doubt(file);
      this.onNoSubtitles(item, reason);
    });
  }

  /** Waits for the first frame of an item. Reveals the item unless the signal has aborted. */
  async #start(
    prepared: Prepared,
    forMs: number,
    signal: AbortSignal,
  ): Promise<Layer | PlaybackFailure> {
    if (prepared.item.creativeType === 'html') await this.#unblock(prepared, signal);
    const layer = await prepared.layer;
    if (!isLayer(layer)) return layer;
    if (layer.usesDecoder) void this.#freeDecoder(layer.ready, signal);
    const failure = (await layer.ready) ?? (await layer.start(forMs));
    if (failure) return failure;
    if (signal.aborted) return 'stalled';
    const previous = this.#current;
    this.#current = layer;
    layer.element.classList.add('visible');
    await painted();
    previous?.dispose();
    return layer;
  }

  /**
   * Removes the current video if the next item is not ready in time. On a TV with one decoder, the
   * next video loads only after that.
   */
  async #freeDecoder(ready: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const current = this.#current;
    if (!current?.usesDecoder) return;
    const isReady = ready.then(() => true);
    const isLate = after(decoderPatienceMs).then(() => false);
    if ((await Promise.race([isReady, isLate])) || signal.aborted) return;
    if (this.#current !== current) return;
    current.dispose();
    this.#current = undefined;
  }

  /**
   * Loads a page again if it is not loaded in time. Before that, removes the current page: browsers
   * run the pages of a site in one process, which each of them can block. The process ends with its
   * last page.
   */
  async #unblock(prepared: Prepared, signal: AbortSignal): Promise<void> {
    const layer = await prepared.layer;
    if (!isLayer(layer)) return;
    const isReady = layer.ready.then(() => true);
    const waitMs = pagePatienceMs - (performance.now() - prepared.sinceMs);
    const isLate = after(waitMs).then(() => false);
    if ((await Promise.race([isReady, isLate])) || signal.aborted) return;
    layer.dispose();
    if (this.#current?.isPage) {
      this.#current.dispose();
      this.#current = undefined;
    }
    await after(processEndMs);
    if (!signal.aborted) prepared.layer = this.#makeLayer(prepared.item, signal);
  }

  async #play(layer: Layer, forMs: number, signal: AbortSignal): Promise<Shown> {
    const startedAtMs = performance.now();
    this.isShowing = true;
    this.onVisible();
    this.#endsAtMs = startedAtMs + forMs;
    const ended = after(forMs).then(() => undefined);
    const failure = await unlessAborted(Promise.race([ended, layer.failed]), signal);
    return { playedMs: Math.min(forMs, performance.now() - startedAtMs), failure };
  }

  #dropPrepared(): void {
    if (this.#prepared) this.#drop(this.#prepared);
    this.#prepared = undefined;
  }

  /** Frees an item, unless it has just become visible. */
  #drop({ controller, layer }: Prepared): void {
    controller.abort();
    void layer.then((made) => {
      if (isLayer(made) && made !== this.#current) made.dispose();
    });
  }
}
