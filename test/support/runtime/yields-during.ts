/** Runs some work. Returns the number of times that it yielded to the event loop. */
export async function yieldsDuring(work: () => Promise<unknown>): Promise<number> {
  let yields = 0;
  let timer: NodeJS.Immediate;
  const count = () => {
    yields++;
    timer = setImmediate(count);
  };
  timer = setImmediate(count);
  await work();
  clearImmediate(timer);
  return yields;
}
