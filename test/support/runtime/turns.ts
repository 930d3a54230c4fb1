/** Waits for turns of the event loop, in which promise chains without real waits finish. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
