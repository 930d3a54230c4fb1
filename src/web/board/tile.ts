import type { BoardTile } from '../../domain/conditions/board-state.ts';
import { span } from '../../domain/duration.ts';
import { addButton, addElement } from '../pairing/add-element.ts';

/** Signs tell the tones apart without colour. */
const signs: Readonly<Record<BoardTile['tone'], string>> = {
  bad: '✗',
  warning: '!',
  good: '✓',
  faint: '○',
};

export const conditionText = (condition: string) => condition.replace('_', ' ');
export const signOf = (tone: BoardTile['tone']) => signs[tone];

const copiedMs = 2000;
const copyText = 'Copy command';

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    // Without the permission, somebody can copy the selection by hand.
    const shown = button.nextElementSibling as HTMLElement;
    shown.hidden = false;
    getSelection()?.selectAllChildren(shown);
    button.textContent = 'Press Ctrl-C';
  }
  setTimeout(() => {
    button.textContent = copyText;
  }, copiedMs);
}

/** A tile of the wall. Its element stays the same for a screen. */
export class Tile {
  readonly element = document.createElement('li');
  readonly #times: { element: HTMLElement; format: (nowMs: number) => string }[] = [];
  #shown = '';
  #tile: BoardTile;
  /** Text that the filter searches. */
  words = '';

  constructor(tile: BoardTile) {
    this.#tile = tile;
    this.show(tile);
  }

  get tile(): BoardTile {
    return this.#tile;
  }

  /** Draws the tile again if it has changed. */
  show(tile: BoardTile): void {
    const shown = JSON.stringify(tile);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#tile = tile;
    const { venue, screen, condition, reason, playing } = tile;
    this.words = [venue, screen, conditionText(condition), reason, playing]
      .join('\n')
      .toLowerCase();
    this.#draw(tile);
  }

  #draw(tile: BoardTile): void {
    const { element } = this;
    element.className = `tile ${tile.tone}`;
    element.textContent = '';
    this.#times.length = 0;
    if (tile.preview) addElement(element, 'div', 'preview');
    const text = addElement(element, 'div', 'text');
    addElement(text, 'h3', 'name', tile.screen);
    const condition = addElement(text, 'p', 'condition');
    addElement(condition, 'span', 'sign', signOf(tile.tone)).setAttribute('aria-hidden', 'true');
    addElement(condition, 'strong', '', ` ${conditionText(tile.condition)}`);
    const { since } = tile;
    if (since !== null)
      this.#time(condition, (nowMs) => ` for ${span(Math.max(0, nowMs - Date.parse(since)))}`);
    if (tile.reason !== null) addElement(text, 'p', 'reason', tile.reason);
    else if (tile.playing !== null) addElement(text, 'p', 'playing', tile.playing);
    for (const note of [tile.clock, tile.sound])
      if (note !== null) addElement(text, 'p', 'reason', note);
    if (tile.command !== null) this.#addCommand(text, tile.command);
  }

  #addCommand(parent: HTMLElement, command: string): void {
    const line = addElement(parent, 'div', 'command');
    const button = addButton(line, 'copy', copyText, () => void copy(command, button));
    button.title = command;
    button.setAttribute('aria-label', `Copy ${command}`);
    button.setAttribute('aria-live', 'polite');
    addElement(line, 'code', '', command).hidden = true;
  }

  #time(parent: HTMLElement, format: (nowMs: number) => string): void {
    this.#times.push({ element: addElement(parent, 'span', 'time'), format });
  }

  /** Writes times by their distance from now, the time of the service. */
  tick(nowMs: number): void {
    for (const { element, format } of this.#times) {
      const text = format(nowMs);
      if (element.textContent !== text) element.textContent = text;
    }
  }
}
