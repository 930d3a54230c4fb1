const maxOffered = 3;

/**
 * Returns a question for a hint: whether one of the nearest words was meant, nearest first, at most
 * three. Returns `''` if no word is near. Ignores case. A word is near if it contains the typed
 * text, or if its Levenshtein distance is small. The maximum is 40 % of the typed length, rounded
 * up, but three at most.
 *
 * @example await didYouMean('flor', ['floor', 'wing']) // 'Did you mean "floor"?'
 */
export async function didYouMean(typed: string, words: readonly string[]): Promise<string> {
  // Loaded on demand: only mistakes need it.
  const { default: leven } = await import('leven');
  const wanted = typed.trim().toLowerCase();
  const maxDistance = Math.min(3, Math.ceil(wanted.length * 0.4));
  const near = words
    .map((word) => {
      const text = word.toLowerCase();
      return { word, distance: text.includes(wanted) ? 0 : leven(wanted, text) };
    })
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, maxOffered);
  return near.length > 0 ? `Did you mean ${near.map(({ word }) => `"${word}"`).join(' or ')}?` : '';
}
