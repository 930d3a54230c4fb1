import type { DeviceConfig } from '../../client/entities.ts';
import { minuteMs } from '../../domain/clock.ts';

const fits = ['contain', 'cover', 'fill'] as const;
const rotations = [0, 90, 180, 270] as const;
const shiftPixels = 2;
const shiftMs = 10 * minuteMs;
const corners = [
  [-1, -1],
  [1, -1],
  [1, 1],
  [-1, 1],
] as const;

/** The member `player` of a config (docs/web-player.md). */
export interface PlayerSettings {
  fit: (typeof fits)[number];
  sound: boolean;
  background: string;
  pixelShift: boolean;
  reloadHours: unknown;
  /** What a TV shows with nothing to play: `info`, `black`, or the URL of a picture. */
  idle: string | undefined;
  /** Degrees, clockwise. `undefined`: as the panel was told by its URL. */
  rotate: (typeof rotations)[number] | undefined;
  /** `undefined`: the language of the browser. */
  language: string | undefined;
}

/**
 * Returns the settings of the web player in a config. Replaces invalid values by their defaults,
 * except for `reloadHours`.
 */
export function readPageSettings(config: DeviceConfig | undefined): PlayerSettings {
  const player = (config as { player?: Record<string, unknown> } | undefined)?.player ?? {};
  const { fit, sound, background, pixelShift, reloadHours, idle, rotate, language } = player;
  return {
    fit: fits.find((one) => one === fit) ?? 'contain',
    sound: sound === true,
    background: typeof background === 'string' ? background : '#000',
    pixelShift: pixelShift === true,
    reloadHours,
    idle: typeof idle === 'string' ? idle : undefined,
    rotate: rotations.find((one) => one === rotate),
    language: typeof language === 'string' ? language : undefined,
  };
}

/** Returns the offset of the stage in pixels, after `step` moves, which avoid burn-in. */
export function pixelShift(step: number): { x: number; y: number } {
  const [x, y] = corners[step % corners.length] as (typeof corners)[number];
  return { x: x * shiftPixels, y: y * shiftPixels };
}

/** Moves the stage from now on, while `isOn` says so. */
export function startPixelShift(
  stage: { style: { transform: string } },
  isOn: () => boolean,
): void {
  let step = 0;
  setInterval(() => {
    const { x, y } = pixelShift(step++);
    stage.style.transform = isOn() ? `translate(${x}px, ${y}px)` : '';
  }, shiftMs);
}
