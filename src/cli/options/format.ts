/**
 * The formats of results. `people`: tables. `document`: data, written as a whole at the end.
 * `lines`: data, one line for each record. `columns`: one line for each record, without its
 * structure.
 */
const kinds = {
  table: 'people',
  wide: 'people',
  json: 'document',
  ndjson: 'lines',
  yaml: 'document',
  csv: 'columns',
  name: 'columns',
} as const;

export type Format = keyof typeof kinds;
export const formats = Object.keys(kinds) as Format[];

/** Whether people read the format. It is the default. */
export const isForPeople = (format: Format = 'table') => kinds[format] === 'people';
/** Whether the format needs all records before it writes the first. */
export const isDocument = (format: Format) => kinds[format] === 'document';
/** Whether the format has the records as received. Other formats need a view. */
export const isData = (format: Format = 'table') =>
  kinds[format] === 'document' || kinds[format] === 'lines';
