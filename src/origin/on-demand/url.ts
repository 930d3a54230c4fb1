import { SignageError } from '../../domain/error.ts';
import type { Screen } from '../../domain/records/rows.ts';
import { operatorUrl } from './operator-url.ts';

/** What a template may name. Names stand in the query alone: one like `..` would change the path. */
const values: Readonly<Record<string, { of: (screen: Screen) => string; inQueryOnly?: true }>> = {
  screenId: { of: ({ id }) => id },
  venueId: { of: ({ venueId }) => venueId },
  tenantId: { of: ({ tenantId }) => tenantId },
  screenName: { of: ({ name }) => name, inQueryOnly: true },
};

const placeholder = /\{([^{}]*)\}/g;
const what = 'The on-demand URL';
const refused = (why: string) => new SignageError('invalid_option', `${what} ${why}`);

export interface OnDemandUrl {
  /** Scheme, host and port: the same for all screens. */
  origin: string;
  /** Path and query for a screen. */
  pathOf(screen: Screen): string;
}

function checkPlaceholders(template: string): void {
  const [beforeQuery = ''] = template.split('?', 1);
  for (const { 0: text, 1: name = '', index } of template.matchAll(placeholder)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!value)
      throw refused(
        `has the placeholder ${text}, which is none: there are {${Object.keys(values).join('}, {')}}.`,
      );
    if (value.inQueryOnly && index < beforeQuery.length)
      throw refused(`may have ${text} after its "?" only.`);
  }
  if (/[{}]/.test(template.replaceAll(placeholder, '')))
    throw refused('has a brace that belongs to no placeholder.');
}

/**
 * Reads a template such as `https://ads.example/playlists/{screenId}?venue={venueId}`. Placeholders stand in path and query, never in the host: whom we
 * ask is the operator's choice alone. Throws `invalid_option`.
 */
export function onDemandUrl(template: string): OnDemandUrl {
  checkPlaceholders(template);
  const fill = (put: (name: string) => string) =>
    template.replaceAll(placeholder, (_, name: string) => put(name));
  const { origin } = operatorUrl(
    fill(() => 'x'),
    what,
  );
  const ids = ['y', 'z'].map(
    (letter) =>
      operatorUrl(
        fill(() => letter),
        what,
      ).origin,
  );
  if (ids.some((other) => other !== origin))
    throw refused('may have placeholders in its path and query only.');
  return {
    origin,
    pathOf(screen) {
      const { pathname, search } = new URL(
        fill((name) => encodeURIComponent(values[name]?.of(screen) ?? '')),
      );
      return `${pathname}${search}`;
    },
  };
}
