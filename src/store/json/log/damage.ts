import { SignageError } from '../../../domain/error.ts';

/** Data on the disk are not what the store wrote: it must not start. Says where, and what to do. */
export function damaged(file: string, what: string, offset?: number): SignageError {
  const place = offset === undefined ? file : `${file}, at byte ${offset}`;
  return new SignageError(
    'store_damaged',
    `The data are damaged: ${place}: ${what}. Nothing was changed. \`signage data check FOLDER\` tells more; then restore a backup, or save what can be read with \`signage data repair FOLDER --into NEW\`.`,
  );
}
