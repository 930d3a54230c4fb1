import type { ClientBase, QueryResult } from 'pg';

/** Runs one statement and returns its rows. JavaScript arrays become PostgreSQL arrays. */
export type Query = <R>(text: string, parameters?: readonly unknown[]) => Promise<readonly R[]>;

const names = new Map<string, string>();

/** Returns the name of a prepared statement: the same on every connection. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `s${names.size + 1}`;
  names.set(text, name);
  return name;
}

/** Runs a statement on one connection. With `prepared` it is prepared once per connection. */
export async function send<R>(
  client: ClientBase,
  prepared: boolean,
  text: string,
  parameters: readonly unknown[] = [],
): Promise<readonly R[]> {
  const { rows } = await client.query({
    ...(prepared && { name: nameOf(text) }),
    text,
    values: [...parameters],
  });
  return rows as R[];
}

/** Runs several statements in one message, without parameters. Returns the rows of the last. */
export async function sendAll<R>(client: ClientBase, text: string): Promise<readonly R[]> {
  const results = (await client.query(text)) as unknown as QueryResult | QueryResult[];
  const last = [results].flat().at(-1) as QueryResult;
  return last.rows as R[];
}
