import type { EventInput } from '../client/entities.ts';
import { secondMs, systemClock } from '../domain/clock.ts';
import { engineOf } from './device-info.ts';
import { inTime } from './isolation.ts';
import { readJson } from './recovery/reload.ts';

/** In `localStorage`: the members of a report that `/player#check` has found. */
export const checkItem = 'signage-player-check';

export type Codec = 'h264' | 'hevc' | 'vp9' | 'av1';
const codecTypes: Readonly<Record<Codec, string>> = {
  h264: 'video/mp4; codecs="avc1.4d401f"',
  hevc: 'video/mp4; codecs="hvc1.1.6.L93.B0"',
  vp9: 'video/webm; codecs="vp9"',
  av1: 'video/mp4; codecs="av01.0.04M.08"',
};
export const codecs = Object.keys(codecTypes) as Codec[];

/** Returns the size of the page in pixels of the display. */
export function pageSize() {
  const { innerWidth, innerHeight, devicePixelRatio: pixelRatio = 1 } = window;
  return {
    width: Math.round(innerWidth * pixelRatio),
    height: Math.round(innerHeight * pixelRatio),
    pixelRatio,
  };
}

/**
 * Returns the report of a start (docs/protocol.md §2.5): what the browser says of itself, and what
 * `/player#check` has found on this TV, which goes before it.
 */
export async function describePanel(isolated: Promise<boolean>): Promise<EventInput> {
  const video = document.createElement('video');
  const isPlayed = (codec: Codec) => video.canPlayType(codecTypes[codec]) !== '';
  return {
    type: 'player_report',
    timestamp: Math.floor(systemClock.now() / secondMs),
    engine: engineOf(navigator.userAgent),
    ...pageSize(),
    plays: codecs.filter(isPlayed),
    lacks: codecs.filter((codec) => !isPlayed(codec)),
    turnsPictures: CSS.supports('image-orientation', 'from-image'),
    isolatesPages: await inTime(isolated),
    ...(readJson(localStorage, checkItem) as object | null),
  };
}
