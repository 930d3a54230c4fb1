import type { ClaimOffer } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import type { SignageError } from '../../domain/error.ts';
import { groupedCode } from '../../domain/typed-code.ts';
import type { UnpairedReason } from '../../player/observer.ts';
import { keepFitting } from '../texts/keep-fitting.ts';
import type { Language } from '../texts/language.ts';
import { fill, type Phrase } from '../texts/phrase.ts';
import { addButton, addElement } from './add-element.ts';
import {
  codeIn,
  codeLength,
  deleteKey,
  formatCode,
  type KeypadKey,
  keys,
  neighbour,
} from './keypad.ts';
import { explainDelay, explainRequest, formatSeconds } from './messages.ts';
import { OfferQuestion } from './offer-question.ts';
import { type RemoteInput, readRemoteKey } from './remote-keys.ts';

/**
 * The screen on which a person types a pairing code. It accepts a keyboard, a pointer, and the
 * arrow keys, OK and digits of a remote control. The eighth character submits the code.
 */
export class PairingScreen {
  readonly #root: HTMLElement;
  readonly #language: Language;
  readonly #boxes: HTMLElement[];
  readonly #buttons: HTMLElement[];
  readonly #message: HTMLElement;
  readonly #claim: HTMLElement;
  readonly #question: OfferQuestion;
  #code = '';
  #selected = 0;
  /** Whether the last key was a character. Space then separates, and presses no key. */
  #isTyping = false;
  #submit: ((code: string) => void) | undefined;
  #countdown: number | undefined;
  readonly #otherCode: HTMLElement;

  /**
   * `notes` are lines about this TV, below the keypad. `onOtherCode` is called when a person wants
   * to type another code instead of the delayed code.
   */
  constructor(
    root: HTMLElement,
    language: Language,
    notes: readonly Phrase[],
    onOtherCode: () => void,
  ) {
    this.#root = root;
    this.#language = language;
    root.textContent = '';
    language.write(addElement(root, 'h1', 'title'), ({ title }) => title);
    this.#message = addElement(root, 'p', 'message');
    this.#message.setAttribute('role', 'status');
    const code = addElement(root, 'div', 'code');
    this.#boxes = [...formatCode('')].map(() => addElement(code, 'span', 'box'));
    const keypad = addElement(root, 'div', 'keypad');
    this.#buttons = keys.map((key, index) => this.#addKey(keypad, key, index));
    this.#otherCode = addButton(root, 'other-code', '', onOtherCode);
    language.write(this.#otherCode, ({ otherCode }) => otherCode);
    this.#question = new OfferQuestion(root, language);
    this.#claim = addElement(root, 'p', 'claim');
    for (const note of notes) this.addNote(note);
    document.addEventListener('keydown', (event) => this.#onKey(event));
    document.addEventListener('paste', (event) => this.#onPaste(event));
    this.hide();
    keepFitting(root);
  }

  /** Adds a line about this TV below the keypad. */
  addNote(note: Phrase): void {
    this.#language.write(addElement(this.#root, 'p', 'note'), note);
  }

  get #isShown(): boolean {
    return !this.#root.hidden;
  }

  hide(): void {
    this.#stopCountdown();
    this.#question.close();
    this.#root.hidden = true;
  }

  /** Shows only a message, such as the progress of a task. */
  tell(message: Phrase): void {
    this.#stopCountdown();
    this.#question.close();
    this.#show(message, { isBusy: true });
    this.#root.classList.add('telling');
  }

  /** Asks for a code, and shows the reason. Resolves with eight characters. */
  ask(why: UnpairedReason, error: SignageError | undefined): Promise<string> {
    this.#stopCountdown();
    const isWrong = why === 'refused';
    this.#show(explainRequest(why, error, formatCode(this.#code)), { isWrong });
    this.#code = '';
    this.#render();
    this.#select(0);
    return new Promise((resolve) => {
      this.#submit = resolve;
    });
  }

  /** Accepts a code as if it had been typed. Returns whether the screen was asking for a code. */
  submit(code: string): boolean {
    const submit = this.#submit;
    if (!submit) return false;
    this.#submit = undefined;
    this.#question.close();
    this.#code = code;
    this.#render();
    submit(code);
    return true;
  }

  showClaim(claim: string): void {
    const command = `signage pair Venue/Screen --tv ${groupedCode(claim)}`;
    const put = (text: string) => {
      this.#claim.textContent = `${text} `;
      addElement(this.#claim, 'span', 'command', command);
    };
    this.#language.write(this.#claim, ({ fromComputer }) => fromComputer, put);
  }

  /** Shows why this TV has no claim. Shows nothing for an empty text. */
  showNoClaim(why: Phrase = () => ''): void {
    this.#language.write(this.#claim, why);
  }

  /** Asks whether to accept an offer. The partly typed code stays. */
  async confirm(offer: ClaimOffer): Promise<boolean> {
    this.#root.classList.add('asking');
    const isAccepted = await this.#question.ask(offer);
    this.#root.classList.remove('asking');
    return isAccepted;
  }

  /** Shows that a code is being checked. */
  showProgress(): void {
    if (this.#countdown === undefined) this.#show(({ checking }) => checking, { isBusy: true });
  }

  /** Shows why a code is not accepted yet, and when the player retries it. */
  showDelay(error: SignageError): void {
    this.#stopCountdown();
    const text = explainDelay(error);
    const endsAtMs = performance.now() + (error.retryAfterSeconds ?? 0) * secondMs;
    const tick = () => {
      const seconds = Math.ceil((endsAtMs - performance.now()) / secondMs);
      const when: Phrase = (texts) =>
        seconds > 0 ? fill(texts.retryIn, { time: formatSeconds(texts, seconds) }) : texts.retrying;
      this.#show((texts) => `${text(texts)} ${when(texts)}`, { isBusy: true, isWrong: true });
      if (seconds <= 0) window.clearInterval(this.#countdown);
    };
    this.#otherCode.hidden = false;
    this.#countdown = window.setInterval(tick, secondMs);
    tick();
  }

  #stopCountdown(): void {
    window.clearInterval(this.#countdown);
    this.#countdown = undefined;
    this.#otherCode.hidden = true;
  }

  #show(message: Phrase, { isBusy = false, isWrong = false }): void {
    this.#root.hidden = false;
    this.#root.classList.remove('telling');
    this.#root.classList.toggle('busy', isBusy);
    this.#message.classList.toggle('wrong', isWrong);
    this.#language.write(this.#message, message);
  }

  #addKey(keypad: HTMLElement, key: KeypadKey, index: number): HTMLElement {
    const button = addButton(keypad, 'key', key === deleteKey ? '⌫' : key, () => {
      this.#select(index);
      this.#press(key);
    });
    if (key === deleteKey) {
      const label = (text: string) => button.setAttribute('aria-label', text);
      this.#language.write(button, (texts) => texts.delete, label);
    }
    button.setAttribute('data-key', key);
    button.addEventListener('focus', () => this.#mark(index));
    return button;
  }

  #onKey(event: KeyboardEvent): void {
    if (!this.#isShown || event.ctrlKey || event.metaKey || event.altKey) return;
    const read = readRemoteKey(event);
    this.#isTyping &&= read !== undefined;
    const input = read?.kind === 'space' ? this.#meaningOfSpace() : read;
    if (!input) return;
    if (!this.#submit) {
      const isPressed = (input.kind === 'back' || input.kind === 'ok') && !event.repeat;
      if (this.#otherCode.hidden || !isPressed) return;
      event.preventDefault();
      this.#otherCode.click();
      return;
    }
    const isAsking = this.#question.isOpen;
    // If there is nothing to delete, the browser handles Back, and leaves the page.
    if (input.kind === 'back' && this.#code === '' && !isAsking) return;
    event.preventDefault();
    // A key that is held down must not type twice. It must not answer a question that appears
    // meanwhile.
    if (event.repeat && input.kind !== 'move') return;
    if (isAsking) this.#question.press(input);
    else if (input.kind === 'move') this.#select(neighbour(this.#selected, input.direction));
    else if (input.kind === 'ok') this.#press(keys[this.#selected] as KeypadKey);
    else if (input.kind === 'back') this.#press(deleteKey);
    else if (input.kind === 'character') this.#type(input.character);
  }

  #meaningOfSpace(): RemoteInput {
    return { kind: this.#isTyping && !this.#question.isOpen ? 'separator' : 'ok' };
  }

  #onPaste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData('text') ?? '';
    if (!this.#isShown || !this.#submit || this.#question.isOpen || text === '') return;
    event.preventDefault();
    const code = codeIn(text);
    if (code === undefined) this.#show(({ notACode }) => notACode, { isWrong: true });
    else this.submit(code);
  }

  #type(character: string): void {
    this.#isTyping = true;
    if (keys.includes(character)) this.#press(character);
    else this.#show(({ noCharacter }) => fill(noCharacter, { character }), { isWrong: true });
  }

  /** Selects a key. The selected key has the focus, so that Tab continues there. */
  #select(index: number): void {
    this.#mark(index);
    this.#isTyping = false;
    this.#buttons[index]?.focus();
  }

  #mark(index: number): void {
    this.#buttons[this.#selected]?.classList.remove('selected');
    this.#selected = index;
    this.#buttons[index]?.classList.add('selected');
  }

  #press(key: KeypadKey): void {
    if (!this.#submit) return;
    this.#code = key === deleteKey ? this.#code.slice(0, -1) : this.#code + key;
    this.#render();
    if (this.#code.length === codeLength) this.submit(this.#code);
  }

  #render(): void {
    for (const [index, character] of [...formatCode(this.#code)].entries()) {
      const box = this.#boxes[index] as HTMLElement;
      box.textContent = character === '_' ? '' : character;
      box.classList.toggle('dash', character === '-');
      box.classList.toggle('filled', character !== '_' && character !== '-');
    }
  }
}
