import type { ClientBase, QueryResult } from 'pg';

/** Sends one statement, and answers its rows. Arrays go in as PostgreSQL's. */
export type Query = <R>(text: string, parameters?: readonly unknown[]) => Promise<readonly R[]>;

const names = new Map<string, string>();

/** Statements are prepared once on each connection, under the same name on all. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `s${names.size + 1}`;
  names.set(text, name);
  return name;
}

/** Sends a statement to one connection, `prepared` once on it for all times. */
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

/** Sends several at once, without parameters; answers the rows of the last. */
export async function sendAll<R>(client: ClientBase, text: string): Promise<readonly R[]> {
  const answers = (await client.query(text)) as unknown as QueryResult | QueryResult[];
  const last = [answers].flat().at(-1) as QueryResult;
  return last.rows as R[];
}
