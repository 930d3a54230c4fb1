import { SignageError } from '../../../domain/error.ts';

/**
 * Returns the error for data on disk that the store did not write. The store must not start. The
 * message names the place and the next step.
 */
export function damaged(file: string, problem: string, offset?: number): SignageError {
  const place = offset === undefined ? file : `${file}, at byte ${offset}`;
  return new SignageError(
    'store_damaged',
    `The data are damaged: ${place}: ${problem}. Nothing was changed. \`signage data check FOLDER\` tells more; then restore a backup, or save problem can be read with \`signage data repair FOLDER --into NEW\`.`,
  );
}
