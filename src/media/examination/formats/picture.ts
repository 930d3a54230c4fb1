/** What is known of a picture without drawing it. */
export interface Picture {
  /** In pixels. */
  width?: number;
  height?: number;
  /** Whether the file ends within its `picture`, or only its `end` is missing. */
  cut?: 'picture' | 'end' | undefined;
  /** Size of the whole file in bytes, where it says so. */
  expectedBytes?: number | undefined;
  isAnimated?: boolean;
  /** Of Exif, from 1 to 8. 1: upright. */
  orientation?: number;
  isCmyk?: boolean;
  /** Whether the file has more parts than any healthy one. */
  isCostly?: boolean;
}
