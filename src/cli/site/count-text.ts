/** Formats a count: `1 venue`, `1,000 screens`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Counts equal words: `2 created, 40 unchanged`. */
export function countsText(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count.toLocaleString('en')} ${word}`).join(', ');
}
