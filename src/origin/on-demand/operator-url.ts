import { SignageError } from '../../domain/error.ts';

const refused = (why: string) => new SignageError('invalid_option', why);

/**
 * A URL that the operator gave: http or https, without a fragment, and without a user name and password, for a command line is seen by everybody on
 * the machine. Throws `invalid_option`; the message does not show the URL, which may hold what it must not.
 *
 * @param what that the URL is of, as the subject of a sentence
 */
export function operatorUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refused(`${what} must be a URL with http or https.`);
  if (url.username !== '' || url.password !== '')
    throw refused(`${what} must not hold a user name or password: secrets come from files.`);
  if (url.hash !== '')
    throw refused(`${what} must not have a fragment (#…): it would never be sent.`);
  return url;
}
