import { z } from 'zod';
import { findScreen } from '../../records/find.ts';
import { screenPaths } from '../../records/names.ts';
import type { ReadingTool } from './reading-tools.ts';
import type { CommandRunner, RunOptions } from './run-commands.ts';
import { maxRecords, resultOf, type ToolResult, tableOf } from './tool-results.ts';

/** The structured result of tools that read. */
export const readingOutput = z.object({
  records: z.array(z.record(z.string(), z.unknown())),
  count: z.number().describe('number of records in this answer'),
  more: z.string().optional().describe('set if there are more records: how to narrow the search'),
  notes: z.array(z.string()),
});

interface NamedRecord extends Record<string, unknown> {
  id?: unknown;
  screenId?: unknown;
  expectedScreenId?: unknown;
  venueId?: unknown;
  name?: unknown;
}

/** Adds the full names of screens to records that have only their ids. */
function withNames(records: readonly NamedRecord[], names: ReadonlyMap<string, string>) {
  return records.map((record) => {
    const name = names.get(String(record.screenId ?? record.expectedScreenId ?? record.id));
    return name === undefined ? record : { screen: name, ...record };
  });
}

/** Calls a tool that reads. */
export async function readWithTool(
  runner: CommandRunner,
  { command, fields, isDrawn, meant }: ReadingTool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const options: RunOptions = {
    signal,
    async beforeChange({ method, path }) {
      throw new Error(`A tool that reads must not send ${method} ${path}.`);
    },
  };
  const asked = command(args);
  const spec = await runner.specOf(asked.words);
  const limit = spec.list ? { limit: maxRecords + 1 } : {};
  const limited = { ...asked, flags: { ...asked.flags, ...limit } };
  const { value, notes } = await runner.run(limited, options);
  const found: NamedRecord[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const filter = found.length === 0 && meant?.name(args);
  // Throws the error that names the nearest screens.
  if (typeof filter === 'string')
    await runner.within((call) => findScreen(call, filter), {}, options);
  const isOfScreens = found.some(({ screenId, venueId, state }) => screenId ?? (venueId && state));
  const names = isOfScreens
    ? await runner.within((call) => screenPaths(call), {}, options)
    : new Map<string, string>();
  const all = withNames(found.slice(0, maxRecords), names);
  const chosen = typeof fields === 'function' ? fields(args) : fields;
  const shownFields = chosen ?? [...new Set(all.flatMap((record) => Object.keys(record)))];
  const table = await tableOf(all, shownFields);
  const records = isDrawn ? all : table.records;
  const drawn = isDrawn
    ? (await runner.run({ ...asked, flags: { ...asked.flags, output: 'table' } }, options)).text
    : table.text;
  const more =
    found.length > maxRecords
      ? `There are more than ${maxRecords}. Narrow the search with the other arguments.`
      : undefined;
  const lines = [drawn, ...notes, ...(more === undefined ? [] : [more])];
  const text = lines.filter(Boolean).join('\n') || 'Nothing found.';
  return resultOf({ records, count: records.length, ...(more && { more }), notes }, text);
}
