import { invalid } from '../domain/error.ts';
import { maxLabels } from '../domain/fields.ts';

/** Labels after a merge patch (RFC 7396): `null` takes one away, `null` for all empties the map. Throws `invalid_request` when there are too many. */
export function patchLabels(
  labels: Record<string, string>,
  patch: Record<string, string | null> | null | undefined,
): Record<string, string> {
  if (patch === undefined) return labels;
  const merged = Object.entries({ ...(patch === null ? {} : labels), ...patch });
  const left = merged.filter((entry): entry is [string, string] => entry[1] !== null);
  if (left.length > maxLabels)
    throw invalid([{ path: '/labels', message: `must have at most ${maxLabels} labels` }]);
  return Object.fromEntries(left);
}

/** Reads `label=key:value` filters; of a key that is given twice the values must both hold, so that nothing matches: that is kept apart. */
export function labelFilter(filters: readonly string[] | undefined): {
  labels?: Record<string, string>;
  impossible: boolean;
} {
  if (!filters) return { impossible: false };
  const wanted = new Map<string, string>();
  let impossible = false;
  for (const filter of filters) {
    const at = filter.indexOf(':');
    const [key, value] = [filter.slice(0, at), filter.slice(at + 1)];
    if ((wanted.get(key) ?? value) !== value) impossible = true;
    wanted.set(key, value);
  }
  return { labels: Object.fromEntries(wanted), impossible };
}
