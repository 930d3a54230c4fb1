import type { ClaimOffer } from '../../client/entities.ts';
import type { Language } from '../texts/language.ts';
import { fill } from '../texts/phrase.ts';
import { addButton, addElement } from './add-element.ts';
import type { RemoteInput } from './remote-keys.ts';

/**
 * Asks whether to accept an offer. "Back" is selected at first, so that OK alone accepts nothing. A
 * person may press OK for the keypad just when a stranger's offer appears.
 */
export class OfferQuestion {
  readonly #root: HTMLElement;
  readonly #text: HTMLElement;
  /** Shows the id of the tenant. Another tenant may have a name of letters that look the same. */
  readonly #tenantId: HTMLElement;
  readonly #accept: HTMLElement;
  readonly #back: HTMLElement;
  readonly #language: Language;
  #isAcceptSelected = false;
  #answer: ((isAccepted: boolean) => void) | undefined;

  constructor(parent: HTMLElement, language: Language) {
    this.#language = language;
    this.#root = addElement(parent, 'div', 'question');
    this.#text = addElement(this.#root, 'p', 'question-text');
    this.#tenantId = addElement(this.#root, 'p', 'question-tenant');
    const buttons = addElement(this.#root, 'div', 'answers');
    this.#back = addButton(buttons, 'answer', '', () => this.close());
    this.#accept = addButton(buttons, 'answer', '', () => this.#end(true));
    language.write(this.#back, ({ back }) => back);
    language.write(this.#accept, ({ pair }) => pair);
    this.#back.addEventListener('focus', () => this.#mark(false));
    this.#accept.addEventListener('focus', () => this.#mark(true));
    this.#root.hidden = true;
  }

  get isOpen(): boolean {
    return !this.#root.hidden;
  }

  /** Resolves with the answer, or with `false` when the question is closed. */
  ask({ tenant, tenantId, venue, screen }: ClaimOffer): Promise<boolean> {
    const place = `${venue}/${screen}`;
    this.#language.write(this.#text, ({ question }) => fill(question, { place, tenant }));
    this.#language.write(this.#tenantId, (texts) => fill(texts.tenant, { id: tenantId }));
    this.#root.hidden = false;
    this.#select(false);
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  /** Handles a key of a remote control. */
  press(input: RemoteInput): void {
    if (input.kind === 'move') this.#select(!this.#isAcceptSelected);
    else if (input.kind === 'ok') this.#end(this.#isAcceptSelected);
    else if (input.kind === 'back') this.close();
  }

  close(): void {
    this.#end(false);
  }

  #end(isAccepted: boolean): void {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#root.hidden = true;
    answer?.(isAccepted);
  }

  #select(isAccept: boolean): void {
    this.#mark(isAccept);
    (isAccept ? this.#accept : this.#back).focus();
  }

  #mark(isAccept: boolean): void {
    this.#isAcceptSelected = isAccept;
    this.#accept.classList.toggle('selected', isAccept);
    this.#back.classList.toggle('selected', !isAccept);
  }
}
