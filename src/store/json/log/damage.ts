import { SignageError } from '../../../domain/error.ts';

/**
 * Returns `store_damaged` for data on disk that are not as the store wrote them. The message names
 * the file.
 */
export function damageError(file: string, problem: string, offset?: number): SignageError {
  const place = offset === undefined ? file : `${file}, at byte ${offset}`;
  return new SignageError(
    'store_damaged',
    `The data are damaged: ${place}: ${problem}. Nothing was changed.`,
  );
}
