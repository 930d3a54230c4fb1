const maxOffered = 3;

/**
 * Returns the records whose names are nearest to a mistyped name, nearest first, at most three.
 * Ignores case. A name is near if it contains the typed text, or if its Levenshtein distance is
 * small. The maximum is 40 % of the typed length, rounded up, but three at most.
 *
 * @example await nearNames('Loby', [{ name: 'Lobby' }, { name: 'Roof' }]) // [{ name: 'Lobby' }]
 */
export async function nearNames<T extends { name: string }>(
  typed: string,
  records: readonly T[],
): Promise<T[]> {
  // Loaded on demand: only mistakes need it.
  const { default: leven } = await import('leven');
  const wanted = typed.trim().toLowerCase();
  const maxDistance = Math.min(3, Math.ceil(wanted.length * 0.4));
  const rated = records.map((record) => {
    const name = record.name.toLowerCase();
    return { record, distance: name.includes(wanted) ? 0 : leven(wanted, name) };
  });
  return rated
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, maxOffered)
    .map(({ record }) => record);
}

/**
 * Returns a question for a hint: whether one of the nearest words was meant. Returns `''` if no
 * word is near.
 *
 * @example await didYouMean('flor', ['floor', 'wing']) // 'Did you mean "floor"?'
 */
export async function didYouMean(typed: string, words: readonly string[]): Promise<string> {
  const near = await nearNames(
    typed,
    words.map((name) => ({ name })),
  );
  return near.length > 0 ? `Did you mean ${near.map(({ name }) => `"${name}"`).join(' or ')}?` : '';
}
