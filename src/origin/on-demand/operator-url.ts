import { SignageError } from '../../domain/error.ts';

const invalidOption = (why: string) => new SignageError('invalid_option', why);

/**
 * Parses a URL given by the operator: http or https, without fragment, user name and password. A
 * command line is visible to all users of the machine. Throws `invalid_option` without showing the
 * URL, which may contain a secret.
 *
 * @param subject what the URL belongs to, as the subject of the error message
 */
export function operatorUrl(text: string, subject: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalidOption(`${subject} must be a URL with http or https.`);
  if (url.username !== '' || url.password !== '')
    throw invalidOption(
      `${subject} must not hold a user name or password: secrets come from files.`,
    );
  if (url.hash !== '')
    throw invalidOption(`${subject} must not have a fragment (#…): it is never sent.`);
  return url;
}
