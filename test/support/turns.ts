/** Lets everything that waits for nothing but promises go on as far as it can. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
