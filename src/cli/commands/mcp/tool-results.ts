import type {
  InputRequiredResult,
  McpServer,
  ServerContext,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { SignageError } from '../../../domain/error.ts';
import { withoutSecrets } from '../../connection/connect.ts';
import { fieldColumns, pickFields } from '../../output/fields.ts';
import { listTable } from '../../output/table.ts';
import { exitCodeOf } from '../../program/exit-code.ts';
import { problemDocument } from '../../program/report-error.ts';
import { escapeControl, escapeLines } from '../../terminal/escape.ts';

/** Largest number of records in one answer. */
export const maxRecords = 100;

/** Members that carry a secret in answers of the service, at any depth. No tool shows them. */
const secretMembers: readonly string[] = ['token', 'apiKey', 'secret', 'ticket'];

/**
 * Removes secret members, redacts secrets in texts, and escapes control characters. Names and
 * device info come from strangers.
 */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return escapeControl(withoutSecrets(value));
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !secretMembers.includes(name))
      .map(([name, inner]) => [name, cleaned(inner)]),
  );
}

export interface ToolResult extends Record<string, unknown> {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export type ToolAnswer = ToolResult | InputRequiredResult;

/** A call of a tool. */
export interface ServedCall {
  signal: AbortSignal;
  context: ServerContext;
  server: McpServer;
}

/** A tool as clients see it. */
export interface ServedTool {
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  annotations: ToolAnnotations;
  call(args: Record<string, unknown>, served: ServedCall): Promise<ToolAnswer>;
}

/** The tools that one server offers. */
export interface Toolset {
  /** What a model reads before it calls a tool. */
  instructions: string;
  tools: Readonly<Record<string, ServedTool>>;
  /** Called at the end, after the last answer. */
  close(): Promise<void>;
}

/** Makes a result. Default of `text`: the result as JSON. */
export function resultOf(structured: object, text?: string): ToolResult {
  const structuredContent = cleaned(structured) as Record<string, unknown>;
  const shown =
    text === undefined ? JSON.stringify(structuredContent) : escapeLines(withoutSecrets(text));
  return { content: [{ type: 'text', text: shown }], structuredContent };
}

/** Returns what went wrong, and what to do next. */
export function errorText(error: unknown) {
  const known =
    error instanceof SignageError
      ? error
      : new SignageError('internal_error', error instanceof Error ? error.message : String(error));
  const { code, detail, hint, errors, status } = problemDocument(known);
  const isTransient = exitCodeOf(known) === 7 || known.retryAfterSeconds !== undefined;
  const { retryAfterSeconds } = known;
  const next = hint ?? (isTransient ? 'Try again, or call doctor.' : 'Change the arguments.');
  const shown = { code, message: detail, next, errors, status, retryAfterSeconds };
  return { ...shown, tryAgain: isTransient };
}

/** Makes the result of a call that failed. */
export function errorResult(error: unknown): ToolResult {
  const text = JSON.stringify(cleaned(errorText(error)));
  return { content: [{ type: 'text', text }], isError: true };
}

/** Draws records as a table of these fields. Returns them with only these fields, too. */
export async function tableOf(records: readonly unknown[], fields: readonly string[]) {
  let text = '';
  const stdout = {
    isTTY: false,
    write: (more: string | Uint8Array) => {
      text += more;
    },
  };
  const table = listTable({ stdout, columns: fieldColumns(fields) });
  await table.add(records);
  await table.end();
  return { text, records: records.map((record) => pickFields(record, fields)) };
}
