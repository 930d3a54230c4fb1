import { dirname } from 'node:path';
import { type ErrorCode, SignageError } from '../../domain/error.ts';
import { systemText } from '../terminal/not-written.ts';
import { notRegular } from './read-file.ts';
import { looksSecret, secretAdvice } from './settings.ts';

type Access = 'read' | 'written';

/**
 * Returns the reason why a file cannot be read or written: `No such file: menu.yaml`. Shows no path
 * that looks like a secret.
 */
export function fileProblem(error: unknown, given: string, access: Access = 'read'): string {
  const failure = error as NodeJS.ErrnoException & { reason?: string };
  const path = looksSecret(given) ? '…' : given;
  switch (failure.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return access === 'read'
        ? `No such file: ${path}${failure.reason ? ` (${failure.reason})` : ''}`
        : `No such folder: ${path === given ? dirname(path) : path}`;
    case 'EACCES':
    case 'EPERM':
      return `You have no permission for ${path}: it cannot be ${access}`;
    case 'EISDIR':
      return `${path} is a folder, not a file`;
    case notRegular:
      return `${path} ${failure.message}`;
    default:
      return `${path} cannot be ${access}: ${systemText(failure)}`;
  }
}

/** How a command uses a file. */
export interface FileUse {
  /** The flag that names the file, or its purpose. */
  what?: string;
  /** Default: `read`. */
  access?: Access;
  /** Code of the error if the file is unusable. Default: `usage`. */
  code?: ErrorCode;
  hint?: string;
}

/**
 * Makes the error for an unusable file: `No such file: ca.pem (--ca-file).` Returns a
 * `SignageError` unchanged.
 */
export function unusableFile(
  error: unknown,
  path: string,
  { what, access, code = 'usage', hint }: FileUse = {},
): SignageError {
  if (error instanceof SignageError) return error;
  const message = `${fileProblem(error, path, access)}${what ? ` (${what})` : ''}.`;
  const advice = looksSecret(path) ? secretAdvice : hint;
  return new SignageError(code, message, advice === undefined ? {} : { hint: advice });
}
