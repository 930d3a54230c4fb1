import { invalid } from '../../domain/error.ts';
import { maxLabels } from '../../domain/fields.ts';

/**
 * Applies a merge patch (RFC 7396) to labels. A `null` value removes one label; a `null` patch
 * removes all. Throws `invalid_request` if too many labels remain.
 */
export function patchLabels(
  labels: Record<string, string>,
  patch: Record<string, string | null> | null | undefined,
): Record<string, string> {
  if (patch === undefined) return labels;
  const merged = Object.entries({ ...(patch === null ? {} : labels), ...patch });
  const remaining = merged.filter((entry): entry is [string, string] => entry[1] !== null);
  if (remaining.length > maxLabels)
    throw invalid([{ path: '/labels', message: `must have at most ${maxLabels} labels` }]);
  return Object.fromEntries(remaining);
}

/**
 * Parses `label=key:value` filters. `impossible` is set if the filters require two different values
 * of one key, so that nothing can match.
 */
export function labelFilter(filters: readonly string[] | undefined): {
  labels?: Record<string, string>;
  impossible: boolean;
} {
  if (!filters) return { impossible: false };
  const wanted = new Map<string, string>();
  let impossible = false;
  for (const filter of filters) {
    const at = filter.indexOf(':');
    const key = filter.slice(0, at);
    const value = filter.slice(at + 1);
    if ((wanted.get(key) ?? value) !== value) impossible = true;
    wanted.set(key, value);
  }
  return { labels: Object.fromEntries(wanted), impossible };
}
