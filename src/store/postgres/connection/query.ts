import { hash } from 'node:crypto';
import type { ClientBase, QueryResult } from 'pg';

/** Runs one statement and returns its rows. JavaScript arrays become PostgreSQL arrays. */
export type Query = <R>(text: string, parameters?: readonly unknown[]) => Promise<readonly R[]>;

/** Returns the name of a prepared statement: `s` and 64 bits of a hash of its text. */
function nameOf(text: string): string {
  return `s${BigInt(`0x${hash('sha256', text).slice(0, 16)}`)}`;
}

/**
 * Runs a statement on one connection. With `prepared`, the statement is prepared once per
 * connection.
 */
export async function send<R>(
  client: ClientBase,
  prepared: boolean,
  text: string,
  parameters: readonly unknown[] = [],
): Promise<readonly R[]> {
  const name = prepared ? nameOf(text) : undefined;
  const { rows } = await client.query({ name, text, values: [...parameters] });
  return rows as R[];
}

/**
 * Runs several statements in one message, without parameters. Returns the rows of the last
 * statement.
 */
export async function sendAll<R>(client: ClientBase, text: string): Promise<readonly R[]> {
  const results = (await client.query(text)) as unknown as QueryResult | QueryResult[];
  const last = [results].flat().at(-1) as QueryResult;
  return last.rows as R[];
}

/** Collects the conditions of a statement and their parameters. */
export class Conditions {
  readonly parameters: unknown[] = [];
  readonly #conditions: string[] = ['true'];

  /** Adds a parameter. Returns its placeholder. */
  parameter(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }

  /** Adds a condition, in which `$` stands for the value, unless the value is `undefined`. */
  add(condition: string, value: unknown): void {
    if (value === undefined) return;
    this.#conditions.push(condition.replace(/\$(?!\d)/, () => this.parameter(value)));
  }

  get text(): string {
    return this.#conditions.join(' AND ');
  }
}
