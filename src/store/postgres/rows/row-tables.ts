import { sectionOf, type TableName, tableNames } from '../../sections.ts';
import { tableSchema } from './columns.ts';

const bytewise = (type: string) => (type === 'text' ? 'text COLLATE "C"' : type);

/**
 * Returns the statements that create the table of a section with its columns and indexes, or add
 * those that are missing. Rows are stored as JSON text. jsonb rejects \u0000 and lone surrogates,
 * and reorders members.
 */
export function tableStatements(table: TableName): string {
  const { name, place, columns, unique, indexes } = tableSchema(table);
  const kind = sectionOf(table).isShortLived ? 'UNLOGGED TABLE' : 'TABLE';
  const added = columns.map(
    (column) =>
      `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS ${column.name} ${bytewise(column.type)}${unique.includes(column.name) ? ' UNIQUE' : ''};`,
  );
  const indexed = indexes.map((index) => {
    const words = [place, ...(index.match(/\w+/g) ?? []), 'idx'];
    return `CREATE INDEX IF NOT EXISTS ${words.join('_').toLowerCase()} ON ${name} ${index};`;
  });
  return [
    `CREATE ${kind} IF NOT EXISTS ${name} (id text COLLATE "C" PRIMARY KEY, row text NOT NULL);`,
    ...added,
    ...indexed,
  ].join('\n');
}

/**
 * Returns the statements that create the functions of `make_changes` for all tables. Each statement
 * in them is static, so its plan stays cached.
 */
export function functionStatements(): string {
  const tables = tableNames.map((table) => tableSchema(table));
  const versions = tables.map(({ name, place, lookedUp, multiple }) => {
    const ofColumn = lookedUp.map((column) => {
      const has = multiple.includes(column) ? `${column} && vals` : `${column} = ANY (vals)`;
      return `WHEN '${column}' THEN those := ARRAY(SELECT xmin::text || ctid::text FROM ${name} WHERE ${has} AND id <> ALL (but));`;
    });
    return `WHEN '${place}' THEN CASE col\n${ofColumn.join('\n')}\nEND CASE;`;
  });
  const puts = tables.map(({ name, place, columns }) => {
    const set = ['row', ...columns.map((column) => column.name)];
    const values = set.map((column) => `excluded.${column}`);
    return `WHEN '${place}' THEN
INSERT INTO ${name} SELECT * FROM json_populate_record(NULL::${name}, columns)
ON CONFLICT (id) DO UPDATE SET (${set.join(', ')}) = ROW (${values.join(', ')});`;
  });
  return `
-- Returns the versions of the rows with one of the values in a column, except the rows \`but\`.
CREATE OR REPLACE FUNCTION signage.versions(place text, col text, vals text[], but text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  those text[];
BEGIN
  CASE place
${versions.join('\n')}
  END CASE;
  IF cardinality(those) < 2 THEN
    RETURN those[1];
  END IF;
  RETURN (SELECT string_agg(one, ',' ORDER BY one COLLATE "C") FROM unnest(those) AS one);
END $$;

CREATE OR REPLACE FUNCTION signage.put_row(place text, columns json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CASE place
${puts.join('\n')}
  END CASE;
END $$;`;
}
