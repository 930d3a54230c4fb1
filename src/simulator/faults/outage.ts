/** The network outages of one TV. */
export class Outage {
  #untilMs = Number.NEGATIVE_INFINITY;
  #rule = '';

  begin(untilMs: number, rule: string): void {
    if (untilMs <= this.#untilMs) return;
    this.#untilMs = untilMs;
    this.#rule = rule;
  }

  /** Returns the rule that caused the outage at this time; `undefined` if the network is up. */
  ruleAt(nowMs: number): string | undefined {
    return nowMs < this.#untilMs ? this.#rule : undefined;
  }
}
