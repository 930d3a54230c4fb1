/** Names of all members, also of those that classes give. */
function membersOf(target: object): Set<string> {
  const names = new Set<string>();
  for (let level = target; level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  }
  names.delete('constructor');
  return names;
}

/**
 * The same object, but for some members; also one that has private members, which a copy would not have. It has the members that were there when it was made:
 * a `Proxy` would follow them, and make each call on the hot paths that lead through here four times as dear.
 */
export function decorateStore<T extends object>(target: T, own: Partial<T>): T {
  const made: Record<string, unknown> = {};
  for (const name of membersOf(target)) {
    const value = target[name as keyof T];
    made[name] = typeof value === 'function' ? value.bind(target) : value;
  }
  return Object.assign(made, own) as T;
}
