import { hourMs, secondMs } from '../../domain/clock.ts';
import { unlessAborted } from '../../domain/concurrency.ts';
import type { PlaybackFailure } from '../../player/stage.ts';
import { isQuotaExceeded } from '../memory/database.ts';
import {
  type DownloadDependencies,
  DownloadFailed,
  download,
  type ExpectedMedia,
} from './download.ts';

/** The source from which the stage loads a file. */
export interface MediaSource {
  /** A `blob:` URL of the stored file, or the file's own URL. */
  src: string;
  /** The stored file, with its `Content-Type`. `undefined`: the source is the file's own URL. */
  file: Blob | undefined;
  /** Must be called once the file is not shown any more. */
  release(): void;
}

/** Maximum number of simultaneous downloads ahead of time. */
const maxDownloads = 2;
/** Pause between a failed download and the next attempt for the same file. */
const retryMs = 30 * secondMs;
/**
 * Pause for a file that does not fit into the storage. A new playlist ends the pause, because it
 * may make room.
 */
const retryLargeMs = hourMs;

interface Failure {
  file: ExpectedMedia;
  error: DownloadFailed;
  atMs: number;
}

/**
 * The media files of the playlist. Downloads the files ahead of time, two at a time, in playing
 * order. An item that is due is downloaded in addition.
 */
export class MediaLibrary {
  readonly #dependencies: DownloadDependencies;
  readonly #onUncached: (url: string) => void;
  readonly #pending = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, Failure>();
  /** URLs of the files that `doubt` has downloaded again since the page was loaded. */
  readonly #fresh = new Set<string>();
  #wanted: ExpectedMedia[] = [];

  /** `onUncached` is called for a file that cannot be stored and is shown from its own URL. */
  constructor(dependencies: DownloadDependencies, onUncached: (url: string) => void) {
    this.#dependencies = dependencies;
    this.#onUncached = onUncached;
  }

  /** Sets the files of the active playlist, in playing order, and downloads them. */
  want(files: readonly ExpectedMedia[]): void {
    const { budget } = this.#dependencies;
    budget.setActive(new Set(files.map(({ url }) => url)));
    this.#wanted = [...files];
    this.#failures.clear();
    budget.evictExpired().catch(() => {});
    this.#downloadNext();
  }

  /** Downloads files again that could not be stored. A file that plays later has no other retry. */
  retryFailed(): void {
    for (const { file } of this.#failures.values()) this.#wanted.push(file);
    this.#downloadNext();
  }

  /**
   * Returns the source of a file. Waits for its download, for at most `patienceMs`. After that, or
   * if the file cannot be stored, the source is the file's own URL. Returns the reason of the
   * failure if the file's own URL would fail, too.
   */
  async open(
    file: ExpectedMedia,
    patienceMs: number,
    signal: AbortSignal,
  ): Promise<MediaSource | PlaybackFailure> {
    const stored = await this.#readStored(file.url);
    if (stored) return stored;
    const failure = this.#recentFailure(file.url);
    if (failure && (failure.error.isFinal || file.needsCopy)) return failure.error.reason;
    if (!failure) await this.#waitForDownload(file, patienceMs, signal);
    const late = await this.#readStored(file.url);
    if (late) return late;
    const now = this.#recentFailure(file.url);
    if (now && (now.error.isFinal || file.needsCopy)) return now.error.reason;
    if (now) this.#onUncached(file.url);
    return { src: file.url, file: undefined, release() {} };
  }

  /**
   * Downloads a file again that cannot be shown, at most once per page load. A power cut may have
   * damaged the stored file.
   */
  doubt(file: ExpectedMedia): void {
    if (this.#fresh.has(file.url)) return;
    void this.#download(file, true);
  }

  async #readStored(url: string): Promise<MediaSource | undefined> {
    const { store, now } = this.#dependencies;
    // Without a database, all media are shown from their own URLs.
    const file = await store.read(url, now()).catch(() => undefined);
    if (!file) return undefined;
    const src = URL.createObjectURL(file);
    return { src, file, release: () => URL.revokeObjectURL(src) };
  }

  #recentFailure(url: string): Failure | undefined {
    const failure = this.#failures.get(url);
    const pauseMs = failure?.error.reason === 'too_large' ? retryLargeMs : retryMs;
    const isRecent = failure && Math.abs(this.#dependencies.now() - failure.atMs) < pauseMs;
    return isRecent ? failure : undefined;
  }

  async #waitForDownload(
    file: ExpectedMedia,
    patienceMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const patience = new AbortController();
    const giveUp = () => patience.abort();
    const timer = setTimeout(giveUp, patienceMs);
    signal.addEventListener('abort', giveUp);
    try {
      await unlessAborted(this.#download(file), patience.signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Downloads a file. Joins a download in progress. Never rejects. */
  #download(file: ExpectedMedia, isReplaced = false): Promise<void> {
    const { url } = file;
    const pending = this.#pending.get(url);
    if (pending) return pending;
    if (isReplaced) this.#fresh.add(url);
    const work = download(this.#dependencies, file, isReplaced)
      .then(() => void this.#failures.delete(url))
      .catch((error: unknown) => {
        const known =
          error instanceof DownloadFailed
            ? error
            : new DownloadFailed(isQuotaExceeded(error) ? 'too_large' : 'unreachable', false);
        this.#failures.set(url, { file, error: known, atMs: this.#dependencies.now() });
      })
      .then(() => {
        this.#pending.delete(url);
        this.#downloadNext();
      });
    this.#pending.set(url, work);
    return work;
  }

  #downloadNext(): void {
    while (this.#pending.size < maxDownloads) {
      const next = this.#wanted.shift();
      if (!next) return;
      if (!this.#pending.has(next.url) && !this.#recentFailure(next.url)) void this.#download(next);
    }
  }
}
