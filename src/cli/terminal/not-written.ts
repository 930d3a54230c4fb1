import { getSystemErrorMap } from 'node:util';
import { SignageError } from '../../domain/error.ts';

/** Returns the text of the operating system for an error, without its code. */
export function systemText({ errno, message }: NodeJS.ErrnoException): string {
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}

const diskCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO'];

/** Makes the error for a full or unwritable disk. `undefined`: another error. */
export function diskProblem(error: unknown): SignageError | undefined {
  const { code, path } = error as NodeJS.ErrnoException;
  return error instanceof Error && diskCodes.includes(code)
    ? notWritten(error, path ?? 'A file')
    : undefined;
}

/** Makes the error of a stream or a file that did not take all that was written. */
export function notWritten(error: unknown, name: string): SignageError {
  return new SignageError(
    'not_written',
    `${name} is incomplete, because it cannot be written: ${systemText(error as NodeJS.ErrnoException)}.`,
    { cause: error, hint: 'Free space on that disk, or write to another place.' },
  );
}
