import { secondMs } from '../domain/clock.ts';
import { groupedCode } from '../domain/typed-code.ts';
import type { TvIdentity } from '../player/observer.ts';
import { languageOf } from './idle-screen.ts';
import { addElement } from './pairing/add-element.ts';
import { keepFitting } from './texts/keep-fitting.ts';
import type { Language } from './texts/language.ts';
import { fill } from './texts/phrase.ts';

/** Draws over everything else who the TV is, so large that it can be read across a hall. */
export class IdentityScreen {
  readonly #root: HTMLElement;
  readonly #language: Language;
  #timer: number | undefined;

  constructor(root: HTMLElement, language: Language) {
    this.#root = root;
    this.#language = language;
    keepFitting(root);
  }

  /** Draws the claim of a TV that waits, for this time. */
  showClaim(claim: string, seconds: number): void {
    window.clearTimeout(this.#timer);
    this.show(undefined);
    if (seconds <= 0) return;
    addElement(this.#root, 'h1', 'identity-name', groupedCode(claim));
    this.#root.hidden = false;
    this.#timer = window.setTimeout(() => this.show(undefined), seconds * secondMs);
  }

  show(identity: TvIdentity | undefined): void {
    this.#root.hidden = !identity;
    this.#root.textContent = '';
    if (!identity) return;
    const { venue, screen, device: end } = identity;
    addElement(this.#root, 'p', 'identity-venue', venue).lang = languageOf(venue);
    addElement(this.#root, 'h1', 'identity-name', screen).lang = languageOf(screen);
    const line = addElement(this.#root, 'p', 'identity-device');
    this.#language.write(line, ({ device }) => fill(device, { end }));
  }
}
