import type { z } from 'zod';

export type RowSchema = z.ZodObject<{ id: z.ZodString }>;

/** Describes the rows of one table: all that stores, dumps, checks and tests know about them. */
export interface Section<
  S extends RowSchema = RowSchema,
  U extends string = string,
  I extends string = string,
  L extends boolean = boolean,
  M extends string = string,
> {
  /** Strict schema of a row. Its member `id` identifies the row within the section. */
  row: S;
  /** Unique keys by name. A row with the key `undefined` is left out. */
  unique: Record<U, (row: z.infer<S>) => string | undefined>;
  /** Indexed members, for `select` and `count`. Lists also use them to restrict their scan. */
  indexed: readonly I[];
  /** Indexes with any number of distinct values for each row, for `ids`. */
  multiple: Record<M, (row: z.infer<S>) => readonly string[]>;
  /** Whether `list` returns pages of the rows. */
  listed: L;
  /** Further members that PostgreSQL keeps as columns, for the filters of lists and for joins. */
  filters: readonly (keyof z.infer<S> & string)[];
  /** Numbers that PostgreSQL computes from a row and keeps as indexed columns. */
  numbers: Record<string, (row: z.infer<S>) => number | null>;
  /** Returns the topic of a change of a row. Absent: nobody waits for such changes. */
  topic?: (id: string) => string;
  /**
   * Returns the name of the document of the embedded store that holds a row. Rows that change
   * together share a document. If rows are not held parsed, the name follows from the id alone.
   */
  document: (row: z.infer<S>) => string;
  /**
   * How the embedded store holds rows: parsed, as lines that are parsed when they are read, or only
   * on disk (`DiskRows`). An index of rows on disk is what their ids begin with, before a `/`.
   */
  held: 'parsed' | 'lines' | 'disk';
  /** Whether a crash of the database may lose the rows, because they live only minutes. */
  isShortLived: boolean;
}

export function section<
  S extends RowSchema,
  U extends string = never,
  const I extends keyof z.infer<S> & string = never,
  const L extends boolean = false,
  M extends string = never,
>(
  given: Pick<Section<S, U, I, L, M>, 'row' | 'document'> & Partial<Section<S, U, I, L, M>>,
): Section<S, U, I, L, M> {
  return {
    unique: {} as Section<S, U, I, L, M>['unique'],
    indexed: [],
    multiple: {} as Section<S, U, I, L, M>['multiple'],
    listed: false as L,
    filters: [],
    numbers: {},
    held: 'parsed',
    isShortLived: false,
    ...given,
  };
}
