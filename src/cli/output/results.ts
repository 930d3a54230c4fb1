import { usage } from '../input/settings.ts';
import { type CommonValues, csvOptions } from '../input/shared.ts';
import type { Painter, TextStyle } from '../terminal/colours.ts';
import { makePainter } from '../terminal/colours.ts';
import type { Environment } from '../terminal/environment.ts';
import { escapeControl, printableJson } from '../terminal/escape.ts';
import { isData, isDocument, isForPeople } from '../terminal/format.ts';
import type { Output } from '../terminal/io.ts';
import { notWritten } from '../terminal/not-written.ts';
import { wrapIndented } from '../terminal/wrap.ts';
import { checkFields, fieldColumns, pickFields, readFields } from './fields.ts';
import {
  allRecords,
  csvWriter,
  eachRecord,
  listTable,
  type RecordWriter,
  recordTable,
} from './table.ts';
import type { Column, MarkedLine, View, ViewSource } from './view.ts';

const marks: Readonly<Record<MarkedLine['mark'], { sign: string; look: TextStyle }>> = {
  ok: { sign: '✓', look: 'good' },
  warn: { sign: '!', look: 'warning' },
  fail: { sign: '✗', look: 'bad' },
};
const indent = 2;

interface MarkedLinesOptions {
  stdout: Output;
  marked(record: unknown): MarkedLine;
  paint: Painter;
}

/**
 * Writes each record as a line with a coloured mark, and the command to run next below it. Wraps
 * the text at the width of a terminal. A command stays on one line, so that it can be copied.
 */
function markedLines({ stdout, marked, paint }: MarkedLinesOptions): RecordWriter {
  const width = stdout.isTTY ? stdout.columns : undefined;
  return eachRecord((record) => {
    const { mark, text, next } = marked(record);
    const { sign, look } = marks[mark];
    const lines = wrapIndented(escapeControl(text), indent, width);
    stdout.write(`${paint[look](sign)} ${lines}\n`);
    if (next !== null) stdout.write(`${' '.repeat(2 * indent)}${escapeControl(next)}\n`);
  });
}

/** A request that `--dry-run` prints instead of sending it. */
export interface PlannedRequest {
  method: string;
  path: string;
  tenantId?: string;
  body?: unknown;
}

type Pages<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>;

/**
 * Yields pages until `limit` items are reached, and requests no further page. Default: all pages.
 */
export async function* limitPages<T>(
  pages: Pages<T>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly T[]> {
  let remaining = limit;
  for await (const page of pages) {
    yield page.slice(0, remaining);
    remaining -= page.length;
    if (remaining <= 0) return;
  }
}

type ResultShape = 'record' | 'list';

const planView: View<PlannedRequest> = {
  columns: [
    { name: 'request', value: ({ method, path }) => `${method} ${path}` },
    { name: 'body', value: ({ body }) => (body === undefined ? null : JSON.stringify(body)) },
  ],
  nameOf: ({ method, path }) => `${method} ${path}`,
};

/**
 * Makes the `Results` for the output options of a command. Throws `usage` for output options that
 * conflict.
 */
export function makeResults(
  { io, clock }: Pick<Environment, 'io' | 'clock'>,
  common: Pick<CommonValues, 'output' | 'jq' | 'fields' | 'quiet' | keyof typeof csvOptions>,
) {
  const { stdout } = io;
  const format = common.output ?? (common.jq === undefined ? 'table' : 'json');
  const fields = common.fields === undefined ? undefined : readFields(common.fields);
  if (common.jq !== undefined && format !== 'json' && format !== 'ndjson')
    throw usage(`--jq works with -o json or ndjson, not with ${format}.`);
  if (fields && (format === 'name' || format === 'html'))
    throw usage(
      `-o ${format} prints ${format === 'name' ? 'only names' : 'a page'}: leave --fields out, or choose another format.`,
    );
  const csvFlags = Object.keys(csvOptions) as (keyof typeof csvOptions)[];
  const csvOnly = csvFlags.find((name) => common[name]);
  if (csvOnly && format !== 'csv')
    throw usage(
      `${csvOptions[csvOnly].flags.split(' ', 1)} works with -o csv, not with ${format}.`,
    );
  const { separator = common.decimalComma ? ';' : ',' } = common;
  let plan: RecordWriter | undefined;

  const jqLines = async (value: unknown) => {
    const { applyJq } = await import('./jq.ts');
    for (const line of await applyJq(value, common.jq ?? '.')) stdout.write(`${line}\n`);
  };
  const pick = (record: unknown) => (fields ? pickFields(record, fields) : record);

  function dataWriter(shape: ResultShape): RecordWriter {
    const whole = (records: readonly unknown[]) =>
      shape === 'list' ? records.map(pick) : pick(records[0]);
    if (format === 'yaml')
      return allRecords(async (records) =>
        stdout.write(await (await import('./yaml.ts')).yamlText(whole(records))),
      );
    if (format === 'json') {
      return allRecords((records) =>
        common.jq === undefined
          ? stdout.write(`${printableJson(whole(records))}\n`)
          : jqLines(whole(records)),
      );
    }
    if (common.jq === undefined)
      return eachRecord((record) => stdout.write(`${printableJson(pick(record), 0)}\n`));
    return {
      async add(records) {
        for (const record of records) await jqLines(pick(record));
      },
      end: async () => {},
    };
  }

  async function columnWriter(shape: ResultShape, view: View<unknown>): Promise<RecordWriter> {
    if (format === 'name')
      return eachRecord((record) => stdout.write(`${escapeControl(view.nameOf(record))}\n`));
    const all: readonly Column<unknown>[] = fields ? fieldColumns(fields) : view.columns;
    if (format === 'csv') return csvWriter(stdout, all, { ...common, separator });
    const paint = await makePainter(io, stdout);
    if (shape === 'record') return recordTable({ stdout, columns: all, paint });
    if (format === 'wide') return listTable({ stdout, columns: all, paint });
    if (view.marked && !fields) return markedLines({ stdout, marked: view.marked, paint });
    const lineWidth = stdout.isTTY ? stdout.columns : undefined;
    return listTable({
      stdout,
      columns: fields ? all : all.filter(({ wide }) => !wide),
      paint,
      ...(lineWidth !== undefined && { fit: { lineWidth, nowMs: clock.now() } }),
    });
  }

  async function junitWriter({ testCase }: View<unknown>): Promise<RecordWriter> {
    if (!testCase)
      throw usage('-o junit works only with conformance: other results are not checks.');
    const { junitXml } = await import('./junit.ts');
    return allRecords((records) => stdout.write(junitXml(records.map((one) => testCase(one)))));
  }

  async function makeWriter<T>(shape: ResultShape, source: ViewSource<T>): Promise<RecordWriter> {
    if (isData(format)) return dataWriter(shape);
    const view = (typeof source === 'function' ? await source() : source) as View<unknown>;
    return format === 'junit' ? junitWriter(view) : columnWriter(shape, view);
  }

  /** Throws `not_written` if a part of the result could not be written. */
  async function requireWritten(): Promise<void> {
    if (!stdout.failure) return;
    throw notWritten(stdout.failure, 'stdout');
  }

  const checked = (records: readonly unknown[]) => {
    if (fields) for (const record of records.slice(0, 1)) checkFields(record, fields);
    return records;
  };

  return {
    async record<T>(record: T, view: ViewSource<T>): Promise<void> {
      const writer = await makeWriter('record', view);
      await writer.add(checked([record]));
      await writer.end();
      await requireWritten();
    },
    /**
     * Prints a list. Tables, `ndjson`, `csv` and `name` are written page by page. In place of an
     * empty table, prints `emptyText` on `stderr`. Returns whether there was a record.
     */
    async list<T>(pages: Pages<T>, view: ViewSource<T>, emptyText?: string): Promise<boolean> {
      const writer = await makeWriter('list', view);
      let isEmpty = true;
      for await (const page of pages) {
        isEmpty &&= page.length === 0;
        await writer.add(checked(page));
        await requireWritten();
      }
      await writer.end();
      await requireWritten();
      if (isEmpty && emptyText !== undefined && isForPeople(format) && !common.quiet)
        io.stderr.write(`${emptyText}\n`);
      return !isEmpty;
    },
    /** Prints a page, the result of `-o html`. */
    async page(html: string): Promise<void> {
      stdout.write(html);
      await requireWritten();
    },
    /** Throws `usage` if the format cannot be written for an endless result, made so by `what`. */
    requireEndless(what: string): void {
      if (isDocument(format))
        throw usage(`${what} never ends, and ${format} is written only at the end: use -o ndjson.`);
    },
    /** Prints a request under `--dry-run`. */
    async planned(request: PlannedRequest): Promise<void> {
      plan ??= await makeWriter<PlannedRequest>('list', planView);
      await plan.add([request]);
    },
    /** Ends the output of `planned`. */
    async finish(): Promise<void> {
      await plan?.end();
    },
  };
}

export type Results = ReturnType<typeof makeResults>;
