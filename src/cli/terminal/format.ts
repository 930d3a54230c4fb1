/**
 * The formats of results. `people`: tables. `document`: data, written as a whole at the end.
 * `lines`: data, one line for each record. `columns`: only the values of the columns, one line for
 * each record. `report`: a report of checks, written as a whole at the end. `page`: one page for a
 * person.
 */
const kinds = {
  table: 'people',
  wide: 'people',
  json: 'document',
  ndjson: 'lines',
  yaml: 'document',
  csv: 'columns',
  name: 'columns',
  junit: 'report',
  html: 'page',
} as const;

export type OutputFormat = keyof typeof kinds;
export const formats = Object.keys(kinds) as OutputFormat[];
/**
 * The formats of all results. A report of checks is only the result of `conformance`, a page only
 * that of commands whose `hasPage` is set.
 */
export const generalFormats = formats.filter(
  (format) => kinds[format] !== 'report' && kinds[format] !== 'page',
);

/** Whether the format is for people, as the default format is. */
export const isForPeople = (format: OutputFormat = 'table') => kinds[format] === 'people';
/** Whether the format needs all records before it writes the first. */
export const isDocument = (format: OutputFormat) =>
  kinds[format] === 'document' || kinds[format] === 'report';
/** Whether the format contains the records as received. All other formats need a view. */
export const isData = (format: OutputFormat = 'table') =>
  kinds[format] === 'document' || kinds[format] === 'lines';
/** Whether errors are written as problem documents, for programs. */
export const isJson = (format: unknown) => format === 'json' || format === 'ndjson';
