/** The names of what is found in files, in the order in which docs/media.md lists them. */
export const fileChecks = [
  'truncated',
  'end',
  'sound',
  'pixels',
  'codec',
  'orientation',
  'rotation',
  'colours',
  'animation',
  'moov',
  'interlaced',
  'frame-rate',
] as const;

/** Something that is wrong with a file. */
export interface FileFinding {
  check: (typeof fileChecks)[number];
  /** `error`: no TV shows the file as it was meant. `warning`: some do not. */
  level: 'error' | 'warning';
  /** A sentence. */
  detail: string;
  /** Its effect on a TV. A sentence. */
  effect: string;
  /** The remedy. In its command, IN is the file, and OUT the new one without its extension. */
  advice: string;
}
