/** Freezes a value and all its members, so that it can be shared safely. */
export function deepFreeze<T>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const member of Object.values(value as object)) deepFreeze(member);
  return Object.freeze(value);
}
