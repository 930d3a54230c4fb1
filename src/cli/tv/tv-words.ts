import type { EventInput, Item } from '../../simulator/player/batch.ts';
import type {
  DropReason,
  PlayerAnswer,
  PlayerPhase,
  RuntimeOperation,
  UnpairedReason,
} from '../../simulator/player/observer.ts';

/** Texts for people. */
export const phaseWords: Readonly<Record<PlayerPhase, string>> = {
  unpaired: 'not paired',
  registering: 'registering',
  playing: 'playing',
  dark: 'nothing to show',
  offline: 'offline',
};

export const operationWords: Readonly<Record<RuntimeOperation, string>> = {
  registerDevice: 'register',
  getDeviceConfig: 'config',
  getPlaylist: 'playlist',
  postEvents: 'events',
  rotateDeviceKey: 'rotate',
};

export const unpairedWords: Readonly<Record<UnpairedReason, string>> = {
  new: 'This TV is not paired yet.',
  revoked: 'The key of this TV was revoked.',
  orphaned: 'The screen of this TV was deleted or has another TV.',
  invalid: 'The service does not know the key of this TV.',
  refused: 'The code was rejected.',
};

export const dropWords: Readonly<Record<DropReason, string>> = {
  refused: 'the service rejected them',
  overflow: 'the queue was full or they were too old',
  unpaired: 'their device key is lost',
};

/** Returns the file name of the creative: `spring.mp4`. Falls back to the host, then to the id. */
export function itemName({ creativeUrl, creativeId }: Item): string {
  if (!URL.canParse(creativeUrl)) return creativeId;
  const { pathname, host } = new URL(creativeUrl);
  return pathname.split('/').at(-1) || host;
}

const round = (seconds: number) => Math.round(seconds * 10) / 10;

/** Formats a time span: `15 s`, `1.5 s`, `20 min`, `3 h` */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${round(seconds)} s`;
  return seconds < 7200 ? `${round(seconds / 60)} min` : `${round(seconds / 3600)} h`;
}

/**
 * Describes the result of a call: `304 in 4 ms`, `401 device_key_revoked in 3 ms`, `unreachable`.
 */
export function answerText({
  status,
  code,
  ms,
}: Pick<PlayerAnswer, 'status' | 'code' | 'ms'>): string {
  return `${[status, code].filter((one) => one !== undefined).join(' ')} in ${Math.round(ms)} ms`;
}

/** Describes an event: `impression of 0190…, 15 s` */
export function eventText({ type, creativeId, duration }: EventInput): string {
  const of = typeof creativeId === 'string' ? ` of ${creativeId}` : '';
  return `${type}${of}${typeof duration === 'number' ? `, ${spanText(duration)}` : ''}`;
}
