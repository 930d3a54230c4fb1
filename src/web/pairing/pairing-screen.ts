import type { ClaimOffer } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import type { SignageError } from '../../domain/error.ts';
import type { UnpairedReason } from '../../player/observer.ts';
import { codeLength, deleteKey, formatCode, type Key, keys, neighbour } from './keypad.ts';
import { explainDelay, explainRequest, formatSeconds } from './messages.ts';
import { readRemoteKey } from './remote-keys.ts';

function add<K extends keyof HTMLElementTagNameMap>(
  parent: HTMLElement,
  tag: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  parent.append(element);
  return element;
}

/**
 * The screen on which a person types a pairing code: with the arrow keys and OK of a remote
 * control, its digits, a keyboard, or a pointer. The eighth character submits the code.
 */
export class PairingScreen {
  readonly #root: HTMLElement;
  readonly #boxes: HTMLElement[];
  readonly #buttons: HTMLElement[];
  readonly #message: HTMLElement;
  readonly #claim: HTMLElement;
  readonly #answers: HTMLElement;
  #code = '';
  #selected = 0;
  #submit: ((code: string) => void) | undefined;
  #confirm: ((isAccepted: boolean) => void) | undefined;
  #countdown: number | undefined;

  /** `notes` are lines about this TV, below the keypad. */
  constructor(root: HTMLElement, notes: readonly string[]) {
    this.#root = root;
    root.textContent = '';
    add(root, 'h1', 'title', 'Pair this TV');
    this.#message = add(root, 'p', 'message');
    this.#message.setAttribute('role', 'status');
    const code = add(root, 'div', 'code');
    this.#boxes = [...formatCode('')].map(() => add(code, 'span', 'box'));
    const keypad = add(root, 'div', 'keypad');
    this.#buttons = keys.map((key, index) => this.#addKey(keypad, key, index));
    this.#answers = add(root, 'div', 'answers');
    for (const [label, isAccepted] of [
      ['OK', true],
      ['Back', false],
    ] as const) {
      const button = add(this.#answers, 'button', 'answer', label);
      button.setAttribute('type', 'button');
      button.addEventListener('click', () => this.#answer(isAccepted));
    }
    this.#answers.hidden = true;
    this.#claim = add(root, 'p', 'claim');
    for (const note of notes) add(root, 'p', 'note', note);
    document.addEventListener('keydown', (event) => this.#onKey(event));
    this.hide();
  }

  get #isShown(): boolean {
    return !this.#root.hidden;
  }

  hide(): void {
    this.#stopCountdown();
    this.#root.hidden = true;
  }

  /** Shows only a message, such as a progress. */
  tell(message: string): void {
    this.#stopCountdown();
    this.#show(message, true);
  }

  /** Asks for a code, and says why. Resolves with eight characters. */
  ask(why: UnpairedReason, error: SignageError | undefined): Promise<string> {
    this.#stopCountdown();
    this.#show(explainRequest(why, error, formatCode(this.#code)), false);
    this.#code = '';
    this.#render();
    this.#select(0);
    return new Promise((resolve) => {
      this.#submit = resolve;
    });
  }

  /** Takes a code as if it had been typed. Does nothing unless the screen asks for one. */
  submit(code: string): void {
    const submit = this.#submit;
    this.#submit = undefined;
    this.#code = code;
    this.#render();
    submit?.(code);
  }

  /** Shows the claim of this TV. `undefined`: none. */
  showClaim(claim: string | undefined): void {
    this.#claim.textContent =
      claim === undefined
        ? ''
        : `Or from a computer: signage pair Venue/Screen --tv ${claim.slice(0, 3)}-${claim.slice(3)}`;
  }

  /** Asks whether to accept an offer: OK or Back of a remote control, or a pointer. */
  confirm({ tenant, venue, screen }: ClaimOffer): Promise<boolean> {
    this.#stopCountdown();
    this.#show(`Pair this TV with ${venue}/${screen} of ${tenant}? Press OK, or Back.`, true);
    this.#answers.hidden = false;
    return new Promise((resolve) => {
      this.#confirm = resolve;
    });
  }

  #answer(isAccepted: boolean): void {
    const confirm = this.#confirm;
    this.#confirm = undefined;
    this.#answers.hidden = true;
    if (!isAccepted) this.#show('Type the pairing code of the screen.', false);
    confirm?.(isAccepted);
  }

  /** Shows that a code is being checked. */
  showProgress(): void {
    if (this.#countdown === undefined) this.#show('Checking the code …', true);
  }

  /** Shows why a code is not accepted yet, and when the player tries it again. */
  showDelay(error: SignageError): void {
    this.#stopCountdown();
    const text = explainDelay(error);
    const endsAtMs = performance.now() + (error.retryAfterSeconds ?? 0) * secondMs;
    const tick = () => {
      const seconds = Math.ceil((endsAtMs - performance.now()) / secondMs);
      const when = seconds > 0 ? `Trying again in ${formatSeconds(seconds)}.` : 'Trying again …';
      this.#show(`${text} ${when}`, true);
      if (seconds <= 0) this.#stopCountdown();
    };
    this.#countdown = window.setInterval(tick, secondMs);
    tick();
  }

  #stopCountdown(): void {
    window.clearInterval(this.#countdown);
    this.#countdown = undefined;
  }

  #show(message: string, isBusy: boolean): void {
    this.#root.hidden = false;
    this.#root.classList.toggle('busy', isBusy);
    this.#message.textContent = message;
  }

  #addKey(keypad: HTMLElement, key: Key, index: number): HTMLElement {
    const button = add(keypad, 'button', 'key', key === deleteKey ? '⌫' : key);
    if (key === deleteKey) button.setAttribute('aria-label', 'Delete');
    button.setAttribute('type', 'button');
    button.setAttribute('data-key', key);
    button.addEventListener('click', () => {
      this.#select(index);
      this.#press(key);
    });
    return button;
  }

  #onKey(event: KeyboardEvent): void {
    if (!this.#isShown || !this.#submit || event.ctrlKey || event.metaKey || event.altKey) return;
    const input = readRemoteKey(event);
    if (!input) return;
    if (this.#confirm) {
      event.preventDefault();
      if (input.kind === 'ok' || input.kind === 'back') this.#answer(input.kind === 'ok');
      return;
    }
    // With nothing to delete, Back leaves the player as on every page.
    if (input.kind === 'back' && this.#code === '') return;
    event.preventDefault();
    if (input.kind === 'move') this.#select(neighbour(this.#selected, input.direction));
    else if (input.kind === 'ok') this.#press(keys[this.#selected] as Key);
    else if (input.kind === 'back') this.#press(deleteKey);
    else if (keys.includes(input.character)) this.#press(input.character);
    else this.#show(`Pairing codes have no ${input.character}.`, false);
  }

  #select(index: number): void {
    this.#buttons[this.#selected]?.classList.remove('selected');
    this.#selected = index;
    this.#buttons[index]?.classList.add('selected');
  }

  #press(key: Key): void {
    if (!this.#submit || this.#confirm) return;
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
