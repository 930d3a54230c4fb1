/** Asks once for all that callers ask for in the same turn: a page of records takes one statement, not one for each. */
export function gathered<V>(fetch: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>): (key: string) => Promise<V | undefined> {
  let next: { keys: Set<string>; answer: Promise<ReadonlyMap<string, V>> } | undefined;

  function begin() {
    const keys = new Set<string>();
    const answer = Promise.resolve().then(() => {
      next = undefined;
      return fetch([...keys]);
    });
    return { keys, answer };
  }

  return async (key) => {
    next ??= begin();
    next.keys.add(key);
    return (await next.answer).get(key);
  };
}
