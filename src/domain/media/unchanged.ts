interface SeenState {
  state: string;
  /** Number of further rounds with this state. */
  rounds: number;
}

/**
 * Finds what stays the same from round to round. Compares no times: the clock of a shared folder or
 * of a bucket may differ from that of this machine.
 */
export class Unchanged {
  readonly #rounds: number;
  #seen: ReadonlyMap<string, SeenState> = new Map();

  /** @param rounds number of further rounds that must see the same state */
  constructor(rounds: number) {
    this.#rounds = rounds;
  }

  /** Returns the names whose state was the same in enough rounds. Forgets names without a state. */
  round(states: ReadonlyMap<string, string>): string[] {
    const seen = new Map<string, SeenState>();
    for (const [name, state] of states) {
      const before = this.#seen.get(name);
      seen.set(name, { state, rounds: before?.state === state ? before.rounds + 1 : 0 });
    }
    this.#seen = seen;
    return [...seen].filter(([, { rounds }]) => rounds >= this.#rounds).map(([name]) => name);
  }
}
