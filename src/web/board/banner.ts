import type { BoardTile } from '../../domain/conditions/board-state.ts';
import { addButton } from '../pairing/add-element.ts';
import { conditionText, signOf } from './tile.ts';

const amountText = (amount: number, noun: string) =>
  `${amount.toLocaleString('en')} ${noun}${amount === 1 ? '' : 's'}`;

const amountOf = (tiles: readonly BoardTile[], tone: BoardTile['tone']) =>
  tiles.filter((tile) => tile.tone === tone).length;

/** Says in one sentence what is wrong. */
export function headline(tiles: readonly BoardTile[]): string {
  const [bad, warning, good] = (['bad', 'warning', 'good'] as const).map((tone) =>
    amountOf(tiles, tone),
  ) as [number, number, number];
  const all = amountText(tiles.length, 'screen');
  if (tiles.length === 0) return 'There are no screens yet.';
  if (bad > 0) {
    const also = warning > 0 ? `, ${warning.toLocaleString('en')} more may be` : '';
    return `${bad.toLocaleString('en')} of ${all} ${bad === 1 ? 'is' : 'are'} wrong${also}`;
  }
  if (warning > 0) return `${warning.toLocaleString('en')} of ${all} may be wrong`;
  if (good === tiles.length) return good === 1 ? 'The screen plays' : `All ${all} play`;
  return `Nothing is wrong: ${good.toLocaleString('en')} of ${all} play`;
}

/** The tone of the whole wall. */
export function worstTone(tiles: readonly BoardTile[]): BoardTile['tone'] {
  const tones = ['bad', 'warning', 'good'] as const;
  return tones.find((tone) => amountOf(tiles, tone) > 0) ?? 'faint';
}

/** Buttons that count the screens of each condition, and show only these. */
export class ConditionButtons {
  readonly #root: HTMLElement;
  readonly #onChoice: () => void;
  readonly #buttons = new Map<string, HTMLButtonElement>();
  /** The condition that is shown. `undefined`: all. */
  chosen: string | undefined;

  constructor(root: HTMLElement, onChoice: () => void) {
    this.#root = root;
    this.#onChoice = onChoice;
  }

  /** Takes the tiles in their order: the worst first. */
  show(tiles: readonly BoardTile[]): void {
    const groups = new Map<string, { tone: BoardTile['tone']; count: number }>();
    for (const { condition, tone } of tiles) {
      const group = groups.get(condition) ?? { tone, count: 0 };
      group.count++;
      groups.set(condition, group);
    }
    for (const [condition, button] of this.#buttons) {
      if (groups.has(condition)) continue;
      button.remove();
      this.#buttons.delete(condition);
      if (this.chosen === condition) this.chosen = undefined;
    }
    for (const [condition, { tone, count: amount }] of groups) {
      const button = this.#buttonOf(condition);
      button.className = tone;
      const text = `${signOf(tone)} ${amount.toLocaleString('en')} ${conditionText(condition)}`;
      if (button.textContent !== text) button.textContent = text;
    }
    const order = [...groups.keys()].map((one) => this.#buttonOf(one));
    const isOrdered = order.every((one, at) => this.#root.children[at] === one);
    if (!isOrdered) this.#root.append(...order);
    this.#press();
  }

  #buttonOf(condition: string): HTMLButtonElement {
    const known = this.#buttons.get(condition);
    if (known) return known;
    const made = addButton(this.#root, '', '', () => {
      this.chosen = this.chosen === condition ? undefined : condition;
      this.#press();
      this.#onChoice();
    });
    this.#buttons.set(condition, made);
    return made;
  }

  #press(): void {
    for (const [condition, button] of this.#buttons)
      button.setAttribute('aria-pressed', String(condition === this.chosen));
  }
}
