import type { PlaylistItem } from '../client/entities.ts';
import type { ScreenPlace } from '../domain/error.ts';
import type { PlaybackFailure } from '../player/stage.ts';
import { addElement } from './pairing/add-element.ts';

const playedItem = 'signage-player-played';
const maxFailures = 5;

const failureTexts: Partial<Record<PlaybackFailure, string>> = {
  unreachable: 'cannot be reached',
  not_media: 'sends something else than the file',
  codec: 'sends a format that this TV cannot show',
  stalled: 'is too slow',
  hung: 'does not load the page',
  too_large: 'sends a file that is too large',
  mixed_content: 'must use https, as this page does',
};

const hostOf = (url: string) => /\/\/([^/?#]+)/.exec(url)?.[1] ?? url;

/** A line about an item that cannot be shown: its host, and why. */
function failureText({ creativeUrl }: PlaylistItem, failure: PlaybackFailure): string {
  const status = /^http_(\d+)$/.exec(failure)?.[1];
  const why = status === undefined ? failureTexts[failure] : `answers ${status}`;
  return `${hostOf(creativeUrl)} ${why ?? failure}`;
}

/** What the player knows when it decides what to show. */
export interface IdleState {
  /** Whether the TV is paired and no item is visible. */
  isIdle: boolean;
  isReached: boolean;
  hasPlaylist: boolean;
  /** Whether nothing is to play now, but something later. */
  isBreak: boolean;
  /** The setting `player.idle` (docs/web-player.md). */
  setting: string | undefined;
}

/**
 * What a paired TV shows while nothing plays: where it hangs and what it waits for, until an item
 * was visible for the first time. Afterwards it shows nothing, unless a setting says otherwise.
 */
export class IdleScreen {
  readonly #root: HTMLElement;
  readonly #storage: Storage;
  readonly #failures = new Map<string, string>();
  #place: ScreenPlace | undefined;
  /** Whether the service has answered that the screen has no playlist. */
  #isWaiting = false;
  /** The texts on the screen, or the URL of the picture. */
  #shown: readonly string[] = [];

  constructor(root: HTMLElement, storage: Storage) {
    this.#root = root;
    this.#storage = storage;
  }

  /** The service has no playlist for the screen. */
  waits(place: ScreenPlace | undefined): void {
    this.#place = place ?? this.#place;
    this.#isWaiting = true;
    this.#failures.clear();
  }

  failed(item: PlaylistItem, failure: PlaybackFailure): void {
    if (this.#failures.size < maxFailures)
      this.#failures.set(item.creativeUrl, failureText(item, failure));
  }

  /** Forgets the failures, because a playlist has changed. */
  clearFailures(): void {
    this.#failures.clear();
  }

  /** An item has become visible. */
  played(): void {
    this.#failures.clear();
    this.#root.hidden = true;
    try {
      this.#storage.setItem(playedItem, 'true');
    } catch {
      // A full storage only means that the next start shows the idle screen again.
    }
  }

  /** The TV was paired with a screen that it has not played on. */
  paired(): void {
    this.#place = undefined;
    this.#isWaiting = false;
    this.#failures.clear();
    this.#storage.removeItem(playedItem);
  }

  /** Shows, changes or hides the idle screen. */
  update({ isIdle, isReached, hasPlaylist, isBreak, setting }: IdleState): void {
    const isFirst = this.#storage.getItem(playedItem) === null;
    const wanted = setting ?? (isFirst ? 'info' : 'black');
    this.#root.hidden = !isIdle || wanted === 'black';
    if (this.#root.hidden) return;
    const isInfo = wanted === 'info';
    const failures = hasPlaylist ? [...this.#failures.values()] : [];
    const status = isBreak ? 'Nothing plays now.' : this.#status(isReached, hasPlaylist, isFirst);
    const { name = '', venue = { name: '' } } = this.#place ?? {};
    const texts = isInfo ? [venue.name, name, status, ...failures] : [wanted];
    if (texts.join('\n') === this.#shown.join('\n')) return;
    this.#shown = texts;
    this.#root.textContent = '';
    this.#root.classList.toggle('picture', !isInfo);
    if (isInfo) this.#renderInfo(venue.name, name, status, failures);
    else addElement(this.#root, 'img', 'idle-picture').src = wanted;
  }

  #renderInfo(venue: string, screen: string, status: string, failures: readonly string[]): void {
    addElement(this.#root, 'p', 'idle-venue', venue);
    addElement(this.#root, 'h1', 'idle-screen', screen);
    addElement(this.#root, 'p', 'idle-status', status).setAttribute('role', 'status');
    for (const failure of failures) addElement(this.#root, 'p', 'idle-failure', failure);
  }

  #status(isReached: boolean, hasPlaylist: boolean, isFirst: boolean): string {
    if (!isReached) return 'The service cannot be reached.';
    if (hasPlaylist)
      return this.#failures.size > 0 ? 'The playlist cannot be shown:' : 'Loading the playlist …';
    if (!this.#isWaiting) return 'Asking for the playlist …';
    return isFirst ? 'Waiting for its first playlist' : 'No playlist';
  }
}
