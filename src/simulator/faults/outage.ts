/** Whether a TV has a network. */
export class Outage {
  #untilMs = Number.NEGATIVE_INFINITY;
  #rule = '';

  begin(untilMs: number, rule: string): void {
    if (untilMs > this.#untilMs) [this.#untilMs, this.#rule] = [untilMs, rule];
  }

  /** The rule by which there is none at this time. */
  ruleAt(nowMs: number): string | undefined {
    return nowMs < this.#untilMs ? this.#rule : undefined;
  }
}
