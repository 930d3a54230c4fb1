/** The interval has no effect other than keeping the process alive. */
const intervalMs = 2 ** 30;

let holders = 0;
let timer: NodeJS.Timeout | undefined;

/**
 * Keeps the process alive until the returned function is called. A `Clock` timer alone does not do
 * that.
 */
export function keepProcessAlive(): () => void {
  holders++;
  timer ??= setInterval(() => {}, intervalMs);
  let isHolding = true;
  return () => {
    if (!isHolding) return;
    isHolding = false;
    holders--;
    if (holders > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
