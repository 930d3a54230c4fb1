import { type FieldError, SignageError } from '../../domain/error.ts';
import { memberPath } from '../../domain/json/schema-issue.ts';
import type { Options } from './spec.ts';

/**
 * Suffixes that a request member may add to the name of its option: `s` in `labels` for the option
 * `label`.
 */
const memberEndings = ['', 's', 'Id', 'Ids', 'At'];

/** Phrases of the service that name a part of a request, and the flag that sets it. */
const phrases: readonly (readonly [ofService: string | RegExp, flag: string])[] = [
  [/ \(POST \/v1\/devices\/\S+\/revoke\)/, ''],
  ['?force=true', '--force'],
  ['the header X-Tenant-Id', '--tenant'],
];

/** Names flags in a message of the service, instead of parts of a request. */
const inFlagWords = (message: string): string =>
  phrases.reduce((text, [ofService, flag]) => text.replace(ofService, flag), message);

/** Splits the path of a field error: `/labels/floor` or `query.limit`. */
function partsOf(path: string): string[] {
  if (path.startsWith('query.')) return [path.slice('query.'.length)];
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the flag that sets a member of a request. If no flag sets it, returns its path. */
function shownPath(path: string, options: Options): string {
  const parts = partsOf(path);
  const [member, ...inner] = parts;
  const [, option] =
    Object.entries(options).find(([name]) =>
      memberEndings.some((ending) => `${name}${ending}` === member),
    ) ?? [];
  const flag = option && /--[\w-]+/.exec(option.flags)?.[0];
  if (flag !== undefined) return [flag, ...(inner.length > 0 ? [memberPath(inner)] : [])].join(' ');
  return parts.length > 0 ? memberPath(parts) : path;
}

/**
 * Rewrites an error of the service for a user of the command line. `--timezone` replaces
 * `/timezone`, and members without a flag become `items[0].duration`.
 */
export function forFlags(error: SignageError, options: Options): SignageError {
  const { code, errors = [], status } = error;
  if (status === undefined) return error;
  const shown = errors.map(({ path, message }): FieldError => {
    return { path: shownPath(path, options), message };
  });
  const [first] = errors;
  const start = first?.path ? `${first.path}: ` : '';
  const message = error.message.startsWith(start)
    ? `${start && `${shown[0]?.path}: `}${error.message.slice(start.length)}`
    : error.message;
  return new SignageError(code, inFlagWords(message), {
    ...error,
    cause: error.cause,
    ...(error.errors && { errors: shown }),
  });
}
