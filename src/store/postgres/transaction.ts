import { SignageError } from '../../domain/error.ts';
import type { AuditEntry, Rows, TableName } from '../../domain/records.ts';
import type { Tx } from '../store.ts';
import type { Ask } from './ask.ts';
import { keptText, type Shape, shapes } from './columns.ts';
import { RowReader } from './row-reader.ts';

/** One change under way. What needs no answer is sent without waiting for one; `end` does. */
export class Transaction extends RowReader implements Tx {
  readonly now: number;
  /** What to wake when it is committed. */
  readonly topics = new Set<string>();
  #over = false;
  readonly #sent: Promise<unknown>[] = [];

  constructor(now: number, ask: Ask) {
    super((text, parameters) => {
      this.#refuseLateCall();
      return ask(text, parameters);
    });
    this.now = now;
  }

  async put<T extends TableName>(table: T, row: Rows[T]): Promise<void> {
    const { text, parameters } = putStatement(shapes[table], row);
    if (table === 'codes') this.topics.add(`codes/${row.id}`);
    if (shapes[table].unique.length === 0) return this.#send(text, parameters);
    const [taken] = await this.ask<{ id: string }>(text, parameters);
    if (taken) throw new SignageError('conflict', `Another row of ${table} has the same key.`, { existingId: taken.id });
  }

  async delete(table: TableName, id: string): Promise<void> {
    if (table === 'codes') this.topics.add(`codes/${id}`);
    const parameters = [keptText(id)];
    this.#send(`DELETE FROM ${shapes[table].name} WHERE id = $1`, parameters);
    if (table === 'devices') this.#send('DELETE FROM signage.batch_keys WHERE device_id = $1', parameters);
    if (table === 'devices') this.#send(`DELETE FROM signage.marks WHERE kind = 'device' AND id = $1`, parameters);
    if (table === 'tokens') this.#send(`DELETE FROM signage.marks WHERE kind = 'token' AND id = $1`, parameters);
  }

  async audit(entry: AuditEntry): Promise<void> {
    const { at, tenantId, action, subject, venueIds = [] } = entry;
    this.#send('INSERT INTO signage.audit (at, tenant_id, action, subject_id, venue_ids, entry) VALUES ($1, $2, $3, $4, $5::text[], $6)', [
      at,
      tenantId ?? '',
      keptText(action),
      subject.id,
      venueIds,
      JSON.stringify(entry),
    ]);
  }

  /** Waits for what was sent; no call comes after. */
  async end(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#sent);
  }

  #send(text: string, parameters: readonly unknown[]): void {
    const sent = this.ask(text, parameters);
    sent.catch(() => undefined);
    this.#sent.push(sent);
  }

  /** A call that nobody awaited must not get lost without a word. */
  #refuseLateCall(): void {
    if (this.#over) throw new Error('the change is over: each call of its tx must be awaited');
  }
}

const texts = new Map<string, string>();

/** Inserts or replaces a row; where there are unique keys, only if no other row has them, and answers that row's id. */
function putStatement<T extends TableName>(shape: Shape, row: Rows[T]): { text: string; parameters: readonly unknown[] } {
  const text = texts.get(shape.name) ?? putText(shape);
  texts.set(shape.name, text);
  return { text, parameters: [keptText(row.id), JSON.stringify(row), ...shape.columns.map((column) => column.of(row))] };
}

function putText({ name, columns, unique }: Shape): string {
  const names = ['id', 'row', ...columns.map((column) => column.name)];
  const values = ['$1::text', '$2::text', ...columns.map(({ type }, place) => `$${place + 3}::${type}`)];
  const put = (source: string) =>
    `INSERT INTO ${name} (${names}) ${source} ON CONFLICT (id) DO UPDATE SET ${names.slice(1).map((one) => `${one} = excluded.${one}`)}`;
  if (unique.length === 0) return put(`VALUES (${values})`);
  const same = unique.map((key) => `${key} = ${values[names.indexOf(key)]}`).join(' OR ');
  return `WITH taken AS (SELECT id FROM ${name} WHERE id <> $1 AND (${same}) LIMIT 1),
    put AS (${put(`SELECT ${values} WHERE NOT EXISTS (SELECT FROM taken)`)})
    SELECT id FROM taken`;
}
