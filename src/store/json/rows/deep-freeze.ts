/** Freezes a value and all that is in it, so that it may be handed to anybody. */
export function deepFreeze<T>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const member of Object.values(value as object)) deepFreeze(member);
  return Object.freeze(value);
}
