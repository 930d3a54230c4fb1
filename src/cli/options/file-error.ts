import { dirname } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import type { SignageError } from '../../domain/error.ts';
import { notRegular } from './read-file.ts';
import { looksSecret, secretAdvice, usage } from './settings.ts';

type Access = 'read' | 'written';

/** Returns the text of the operating system for an error, without its code. */
function systemText({ errno, message }: NodeJS.ErrnoException): string {
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}

/**
 * Returns the reason why a file cannot be read or written: `No such file: menu.yaml`. Shows no path
 * that looks like a secret.
 */
export function fileProblem(error: unknown, given: string, access: Access = 'read'): string {
  const failure = error as NodeJS.ErrnoException;
  const path = looksSecret(given) ? '…' : given;
  switch (failure.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return access === 'read'
        ? `No such file: ${path}`
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

/**
 * Makes the error for a file that the user named. `what` is the flag that names it, or its purpose:
 * `No such file: ca.pem (--ca-file).`
 */
export function unusableFile(
  error: unknown,
  path: string,
  { what, access }: { what?: string; access?: Access } = {},
): SignageError {
  const message = `${fileProblem(error, path, access)}${what ? ` (${what})` : ''}.`;
  return usage(message, looksSecret(path) ? secretAdvice : undefined);
}
