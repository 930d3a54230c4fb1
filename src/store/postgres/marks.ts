import type { Database } from './connection/database.ts';
import { type ActivityKind, type AnyActivity, laterActivity, mergeActivity } from './mark-merge.ts';
import { Batcher } from './rows/batcher.ts';
import { lookUps } from './rows/versioned-rows.ts';

/** Rows written by one transaction. */
const atOnce = 500;

type Noted = Map<string, AnyActivity>;

interface Kept {
  kind: ActivityKind;
  id: string;
  marks: string;
}

const nameOf = (kind: ActivityKind, id: string) => `${kind}/${id}`;

function keyOf(name: string): { kind: string; id: string } {
  const [kind = '', id = ''] = name.split('/');
  return { kind, id };
}

/** The latest doings of devices and tokens: noted in memory, written behind by `flush`, and joined there with what other instances noted. */
export class LastActivityTable {
  readonly #database: Database;
  #fresh: Noted = new Map();
  /** What is being written; it may not be readable there yet. */
  #underWay: Noted = new Map();
  #flushing: Promise<void> | undefined;
  readonly #kept = new Batcher(lookUps, (names: readonly string[]) => this.#keptOf(names));

  constructor(database: Database) {
    this.#database = database;
  }

  touch(kind: ActivityKind, id: string, marks: AnyActivity): void {
    const name = nameOf(kind, id);
    this.#fresh.set(name, laterActivity(this.#fresh.get(name) ?? {}, marks));
  }

  async marks(kind: ActivityKind, id: string): Promise<AnyActivity> {
    const own = [this.#underWay, this.#fresh].map((noted) => noted.get(nameOf(kind, id)) ?? {});
    const kept = await this.#kept.do(nameOf(kind, id));
    return own.reduce(mergeActivity, kept === undefined ? {} : (JSON.parse(kept) as AnyActivity));
  }

  async #keptOf(names: readonly string[]): Promise<(string | undefined)[]> {
    const kept = await this.#database.ask<Kept>(reading, [
      JSON.stringify([...new Set(names)].map(keyOf)),
    ]);
    const byName = new Map(kept.map(({ kind, id, marks }) => [nameOf(kind, id), marks]));
    return names.map((name) => byName.get(name));
  }

  /** Writes what was noted before the call. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#fresh.size === 0) return;
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    [this.#underWay, this.#fresh] = [this.#fresh, new Map()];
    try {
      // In one order, so that two instances do not wait for each other.
      const names = [...this.#underWay.keys()].sort();
      while (names.length > 0) await this.#write(names.splice(0, atOnce));
    } finally {
      // What could not be written is noted again, below what came since.
      for (const [name, marks] of this.#underWay)
        this.#fresh.set(name, laterActivity(marks, this.#fresh.get(name) ?? {}));
      this.#underWay = new Map();
    }
  }

  async #write(names: readonly string[]): Promise<void> {
    const rows = names.map((name) => ({
      ...keyOf(name),
      own: this.#underWay.get(name) as AnyActivity,
    }));
    const keys = JSON.stringify(rows.map(({ kind, id }) => ({ kind, id })));
    await this.#database.transaction('BEGIN', async (ask) => {
      await ask(inserting, [keys]);
      const known = await ask<Kept>(locking, [keys]);
      const before = new Map(known.map(({ kind, id, marks }) => [nameOf(kind, id), marks]));
      const merged = rows.map(({ kind, id, own }) => {
        const marks = mergeActivity(
          JSON.parse(before.get(`${kind}/${id}`) as string) as AnyActivity,
          own,
        );
        return { kind, id, marks: JSON.stringify(marks), last_seen_at: marks.lastSeenAt ?? null };
      });
      await ask(updating, [JSON.stringify(merged)]);
    });
    for (const name of names) this.#underWay.delete(name);
  }
}

const inserting = `INSERT INTO signage.marks (kind, id, marks)
  SELECT kind, id, '{}' FROM json_to_recordset($1::text::json) AS k (kind text, id text) ON CONFLICT DO NOTHING`;
const reading = `SELECT m.kind, m.id, m.marks FROM signage.marks m
  JOIN json_to_recordset($1::text::json) AS k (kind text, id text) USING (kind, id)`;
const locking = `${reading} ORDER BY m.kind, m.id FOR UPDATE OF m`;
const updating = `UPDATE signage.marks m SET marks = n.marks, last_seen_at = n.last_seen_at
  FROM json_to_recordset($1::text::json) AS n (kind text, id text, marks text, last_seen_at bigint)
  WHERE m.kind = n.kind AND m.id = n.id`;
