/** Longer than any program runs. */
const farAwayMs = 2 ** 30;

let holders = 0;
let timer: NodeJS.Timeout | undefined;

/** Keeps the process alive until the returned function is called: a clock does not, and a TV that waits for its next item must not end. */
export function keepProcessAlive(): () => void {
  holders++;
  timer ??= setInterval(() => {}, farAwayMs);
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
