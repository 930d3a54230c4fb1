import type { PlaylistItem } from '../client/entities.ts';
import type { ScreenPlace } from '../domain/error.ts';
import type { PlaybackFailure } from '../player/stage.ts';
import { addElement } from './pairing/add-element.ts';
import type { Texts } from './texts/english.ts';
import { keepFitting } from './texts/keep-fitting.ts';
import type { Language } from './texts/language.ts';
import { fill, type Phrase, textFor } from './texts/phrase.ts';

const playedItem = 'signage-player-played';
const maxFailures = 5;

const hostOf = (url: string) => /\/\/([^/?#]+)/.exec(url)?.[1] ?? url;

/** A line about an item that cannot be shown: its host, and why. */
function failureText({ creativeUrl }: PlaylistItem, failure: PlaybackFailure): Phrase {
  const host = hostOf(creativeUrl);
  const [, status = ''] = /^http_(\d+)$/.exec(failure) ?? [];
  return (texts) => {
    const text = status ? texts.item_status : textFor(texts, `item_${failure}`);
    return fill(text ?? `{host}: ${failure}`, { host, status });
  };
}

/** Names in Japanese need the forms of its characters. */
export const languageOf = (name: string) => (/[\u3040-\u30ff]/.test(name) ? 'ja' : '');

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
  readonly #language: Language;
  readonly #storage: Storage;
  readonly #failures = new Map<string, Phrase>();
  #place: ScreenPlace | undefined;
  /** Whether the service has answered that the screen has no playlist. */
  #isWaiting = false;
  /** The texts on the screen, or the URL of the picture. */
  #shown: readonly string[] = [];

  constructor(root: HTMLElement, language: Language, storage: Storage) {
    this.#root = root;
    this.#language = language;
    this.#storage = storage;
    keepFitting(root);
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
    const status: Phrase = (texts) =>
      texts[isBreak ? 'nothingNow' : this.#status(isReached, hasPlaylist, isFirst)];
    const { name = '', venue = { name: '' } } = this.#place ?? {};
    const phrases = [status, ...failures];
    const lines = phrases.map((phrase) => this.#language.read(phrase));
    const texts = isInfo ? [venue.name, name, ...lines] : [wanted];
    if (texts.join('\n') === this.#shown.join('\n')) return;
    this.#shown = texts;
    this.#root.textContent = '';
    this.#root.classList.toggle('picture', !isInfo);
    if (isInfo) this.#renderInfo([venue.name, name], status, failures);
    else addElement(this.#root, 'img', 'idle-picture').src = wanted;
  }

  #renderInfo([venue, screen]: [string, string], status: Phrase, failures: readonly Phrase[]) {
    addElement(this.#root, 'p', 'idle-venue', venue).lang = languageOf(venue);
    addElement(this.#root, 'h1', 'idle-screen', screen).lang = languageOf(screen);
    const line = addElement(this.#root, 'p', 'idle-status');
    line.setAttribute('role', 'status');
    this.#language.write(line, status);
    for (const failure of failures)
      this.#language.write(addElement(this.#root, 'p', 'idle-failure'), failure);
  }

  #status(isReached: boolean, hasPlaylist: boolean, isFirst: boolean): keyof Texts {
    if (!isReached) return 'unreachable';
    if (hasPlaylist) return this.#failures.size > 0 ? 'notShown' : 'loading';
    if (!this.#isWaiting) return 'asking';
    return isFirst ? 'waiting' : 'noPlaylist';
  }
}
