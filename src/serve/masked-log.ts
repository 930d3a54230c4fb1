import { maskSecrets } from '../domain/api-key.ts';
import type { LogMethod, LogSink } from '../domain/log.ts';

function maskedError(error: Error): Error {
  const { message, stack = '' } = error;
  const cause = masked(error.cause);
  if (maskSecrets(stack) === stack && maskSecrets(message) === message && cause === error.cause)
    return error;
  const copy: Error = Object.create(error);
  return Object.assign(copy, { message: maskSecrets(message), stack: maskSecrets(stack), cause });
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskSecrets(value);
  return value instanceof Error ? maskedError(value) : value;
}

/**
 * Masks everything of the shape of a secret in the entries of a log, such as a token in the message
 * of a library's error. Entries of the level `debug` pass as they are: there is one for each
 * request, and its fields are ids and the masked detail of a problem.
 */
export function maskedLog(log: LogSink): LogSink {
  const mask =
    (write: LogMethod): LogMethod =>
    (fields, message) =>
      write(
        Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, masked(value)])),
        maskSecrets(message),
      );
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: mask((fields, message) => log.info(fields, message)),
    warn: mask((fields, message) => log.warn(fields, message)),
    error: mask((fields, message) => log.error(fields, message)),
  };
}
