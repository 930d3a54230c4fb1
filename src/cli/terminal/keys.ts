import { emitKeypressEvents } from 'node:readline';
import type { Io } from './io.ts';

/** One pressed key. */
export interface PressedKey {
  /** The character, if the key has one. */
  text: string | undefined;
  /**
   * The name that Node gives the key, such as `up`, `pagedown` or `escape`. `undefined` if it has
   * none.
   */
  name: string | undefined;
}

interface Keypress {
  name?: string;
  ctrl: boolean;
  meta: boolean;
}

type Keyboard = NodeJS.ReadableStream & { setRawMode?(mode: boolean): unknown };

const isPrinted = (text: string | undefined) => text !== undefined && /^\P{C}$/u.test(text);

/**
 * Calls `press` for each key that is pressed without Ctrl or Alt. Ctrl-C still interrupts the
 * program. Returns a function that restores the terminal.
 */
export function watchKeys(io: Io, press: (key: PressedKey) => void): () => void {
  const input: Keyboard = io.terminal().input;
  const pressed = (text: string | undefined, { name, ctrl, meta }: Keypress) => {
    if (ctrl && name === 'c') io.interrupt();
    // Node reports a lone Escape with `meta`.
    else if (!ctrl && (!meta || name === 'escape'))
      press({ text: isPrinted(text) ? text : undefined, name });
  };
  emitKeypressEvents(input);
  input.on('keypress', pressed);
  input.setRawMode?.(true);
  input.resume();
  return () => {
    input.off('keypress', pressed);
    input.setRawMode?.(false);
    input.pause();
  };
}
