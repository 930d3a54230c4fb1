import { error, type MediaProblem, warning } from './finding.ts';

const gigabyte = 1e9;
const sizeText = (size: number) => `${(size / gigabyte).toFixed(1)} GB`;
const advice = 'Make the files smaller, or raise cachePolicy.maxSizeGB.';

/** Checks a file of `size` bytes against the cache of a TV. */
export function sizeProblem(size: number, maxSizeGB: number): MediaProblem | undefined {
  if (size <= maxSizeGB * gigabyte) return undefined;
  return error('size', {
    detail: `The file has ${sizeText(size)}, and cachePolicy.maxSizeGB is ${maxSizeGB}.`,
    effect: 'A TV cannot keep a copy, so the item needs the network each time.',
    advice,
  });
}

/**
 * Checks all files of a playlist together. Returns `undefined` if one file alone is too large,
 * because that file has its own finding.
 */
export function totalSizeProblem(
  sizes: readonly number[],
  maxSizeGB: number,
): MediaProblem | undefined {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const max = maxSizeGB * gigabyte;
  if (total <= max || sizes.some((size) => size > max)) return undefined;
  return error('size', {
    detail: `The files have ${sizeText(total)} together, and cachePolicy.maxSizeGB is ${maxSizeGB}.`,
    effect: 'A TV downloads some of them again in each loop, so it needs the network.',
    advice,
  });
}

export const lengthProblem = () =>
  warning('length', {
    detail: 'The server does not say how long the file is. It may be an endless stream.',
    effect: 'A TV does not know whether it has the whole file, or whether it fits its cache.',
    advice: 'Make the server send Content-Length.',
  });
