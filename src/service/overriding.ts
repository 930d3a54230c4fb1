/** The same object, but for some members; also one that has private members, which a copy would not have. */
export function overriding<T extends object>(target: T, own: Partial<T>): T {
  /** What was asked for before, for hot paths lead through here. */
  const bound = new Map<string | symbol, { value: unknown; ours: unknown }>();
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const before = bound.get(name);
      if (before?.value === value) return before.ours;
      const ours = value.bind(target);
      bound.set(name, { value, ours });
      return ours;
    },
  });
}
