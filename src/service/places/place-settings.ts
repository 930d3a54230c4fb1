/** Settings that rows always have. Others are missing instead of `null`. */
const stored = ['address', 'timezone', 'hours'];

/** Returns a row with the settings of a creation or a patch. `undefined`: unchanged. */
export function withSettings<T extends object>(
  row: T,
  given: { readonly [K in keyof T]?: T[K] | null | undefined },
): T {
  const merged = new Map<string, unknown>(Object.entries(row));
  for (const [name, value] of Object.entries(given)) {
    if (value === null && !stored.includes(name)) merged.delete(name);
    else if (value !== undefined) merged.set(name, value);
  }
  return Object.fromEntries(merged) as T;
}

/** Returns the settings of a row as callers see them, in the order of `settings`. */
export const settingsView = <S extends object, T>(settings: S, row: T) =>
  Object.fromEntries(Object.keys(settings).map((name) => [name, row[name as keyof T] ?? null])) as {
    [K in keyof S & keyof T]: Exclude<T[K], undefined> | null;
  };
