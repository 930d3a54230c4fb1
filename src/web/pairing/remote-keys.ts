import { isSeparator } from '../../domain/typed-code.ts';
import type { Direction } from './keypad.ts';

/** Meaning of a key of a remote control or keyboard on the pairing screen. */
export type RemoteInput =
  | { kind: 'move'; direction: Direction }
  | { kind: 'ok' }
  | { kind: 'back' }
  | { kind: 'character'; character: string }
  | { kind: 'separator' }
  | { kind: 'space' };

const directions: Record<number, Direction> = { 37: 'left', 38: 'up', 39: 'right', 40: 'down' };
const enterCode = 13;
/**
 * `keyCode` of Backspace, Escape, and the Back key of webOS (461), Tizen (10009) and Android (4).
 */
const backCodes = [8, 27, 461, 10_009, 4];

/**
 * Returns the meaning of a key. Returns `undefined` for a key that the browser handles. Uses
 * `keyCode`, because `KeyboardEvent.key` has no common name for the Back key of TVs.
 */
export function readRemoteKey({
  key,
  keyCode,
}: {
  key: string;
  keyCode: number;
}): RemoteInput | undefined {
  const direction = directions[keyCode];
  if (direction) return { kind: 'move', direction };
  if (keyCode === enterCode) return { kind: 'ok' };
  if (backCodes.includes(keyCode) || key === 'GoBack' || key === 'BrowserBack')
    return { kind: 'back' };
  if (key === ' ') return { kind: 'space' };
  if (/^[a-z0-9]$/i.test(key)) return { kind: 'character', character: key.toUpperCase() };
  return [...key].length === 1 && isSeparator(key) ? { kind: 'separator' } : undefined;
}
