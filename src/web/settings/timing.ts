/** A promise that never settles. */
export const never = new Promise<never>(() => {});

/** Resolves after `delayMs`. */
export const after = (delayMs: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, delayMs);
  });
