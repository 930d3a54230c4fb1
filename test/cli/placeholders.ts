// Varying values and secrets of transcripts.

/** Forms of values that get a number. */
const numbered = [
  ['token', /\bmak_\w{20,}/g],
  ['key', /\bdak_\w{20,}/g],
  ['claim', /\bclm_\w{20,}/g],
  ['ticket', /\btkt_\w{20,}/g],
  ['login secret', /\blgn_\w{20,}/g],
  ['shown claim', /(?<="claim":"|\/claims\/)[A-HJKMNP-Z2-9]{6}\b/g],
  ['grouped claim', /\b(?!K7Q-2MX)[A-HJKMNP-Z2-9]{3}-[A-HJKMNP-Z2-9]{3}\b/g],
  ['id', /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g],
  ['code', /\b(?!REQUESTS|ABCD2345)[A-HJKMNP-Z2-9]{8}\b/g],
  ['grouped code', /\b(?!ABCD-2345)[A-HJKMNP-Z2-9]{4}-[A-HJKMNP-Z2-9]{4}\b/g],
] as const;

/** Replaces varying values by placeholders, and placeholders by values. */
export class Placeholders {
  readonly #values = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  add(name: string, value: string): void {
    this.#values.set(`<${name}>`, value);
  }

  fill(text: string): string {
    return text.replaceAll(/<[a-z ]+\d*>/g, (name) => this.#values.get(name) ?? name);
  }

  mask(text: string): string {
    let masked = text;
    for (const [name, value] of this.#values) {
      if (!/\d>$/.test(name)) masked = masked.replaceAll(value, name);
    }
    for (const [kind, form] of numbered) {
      masked = masked.replaceAll(form, (value, at: number, all: string) => {
        const name = this.#number(kind, value);
        // Columns of a table stay aligned.
        return all.startsWith('  ', at + value.length) ? name.padEnd(value.length) : name;
      });
    }
    return masked
      .replaceAll(/(\(|within | in )\d+ ms/g, '$1<n> ms')
      .replaceAll(/\bversion \d+\.\d+\.\d+[\w.-]*/g, 'version <version>');
  }

  #number(kind: string, value: string): string {
    const known = [...this.#values].find(([, one]) => one === value);
    if (known) return known[0];
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.add(`${kind} ${count}`, value);
    return `<${kind} ${count}>`;
  }
}
