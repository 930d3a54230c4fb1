import { invalidOption } from '../../domain/error.ts';
import type { Screen } from '../../domain/records/rows.ts';

/**
 * Parses a URL given by the operator: http or https, without fragment, user name and password.
 * Passwords are rejected, because all users of the machine can see a command line. Throws
 * `invalid_option` without the URL, which may contain a secret.
 *
 * @param subject subject of the error message, such as `The endpoint of the object store`
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

/**
 * Placeholders of a template. The name of the screen is allowed only in the query, because a name
 * such as `..` would change the path.
 */
const placeholders: Readonly<
  Record<string, { read: (screen: Screen) => string; inQueryOnly?: true }>
> = {
  screenId: { read: ({ id }) => id },
  venueId: { read: ({ venueId }) => venueId },
  tenantId: { read: ({ tenantId }) => tenantId },
  screenName: { read: ({ name }) => name, inQueryOnly: true },
};

const placeholderPattern = /\{([^{}]*)\}/g;
const subject = 'The on-demand URL';

export interface OnDemandUrl {
  /** Scheme, host and port, which are the same for all screens. */
  origin: string;
  /** Path and query for a screen. */
  pathOf(screen: Screen): string;
}

function checkPlaceholders(template: string): void {
  const [beforeQuery = ''] = template.split('?', 1);
  for (const { 0: text, 1: name = '', index } of template.matchAll(placeholderPattern)) {
    const value = Object.hasOwn(placeholders, name) ? placeholders[name] : undefined;
    if (!value)
      throw invalidOption(
        `${subject} has the unknown placeholder ${text}: the placeholders are {${Object.keys(placeholders).join('}, {')}}.`,
      );
    if (value.inQueryOnly && index < beforeQuery.length)
      throw invalidOption(`${subject} may have ${text} only after its "?".`);
  }
  if (/[{}]/.test(template.replaceAll(placeholderPattern, '')))
    throw invalidOption(`${subject} has a brace outside a placeholder.`);
}

/**
 * Parses a template such as `https://ads.example/playlists/{screenId}?venue={venueId}`.
 * Placeholders are allowed in path and query. They are not allowed in the host, which must come
 * from the operator alone. Throws `invalid_option`.
 */
export function onDemandUrl(template: string): OnDemandUrl {
  checkPlaceholders(template);
  const fill = (replacement: (name: string) => string) =>
    template.replaceAll(placeholderPattern, (_, name: string) => replacement(name));
  const { origin } = operatorUrl(
    fill(() => 'x'),
    subject,
  );
  const otherOrigins = ['y', 'z'].map(
    (letter) =>
      operatorUrl(
        fill(() => letter),
        subject,
      ).origin,
  );
  if (otherOrigins.some((other) => other !== origin))
    throw invalidOption(`${subject} may have placeholders only in its path and query.`);
  return {
    origin,
    pathOf(screen) {
      const { pathname, search } = new URL(
        fill((name) => encodeURIComponent(placeholders[name]?.read(screen) ?? '')),
      );
      return `${pathname}${search}`;
    },
  };
}
