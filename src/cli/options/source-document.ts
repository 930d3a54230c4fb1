import { dirname } from 'node:path';
import { type Document, isAlias, isNode, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { type FieldError, SignageError } from '../../domain/error.ts';
import { memberPath, wrongMembers } from '../../domain/json/schema-issue.ts';
import { memoize } from '../command/memoize.ts';

/** Path inside a document: `['venues', 0, 'name']`. */
export type Path = readonly PropertyKey[];

/** One document of a file, with the positions of its parts. */
export interface SourceDocument {
  /** The value as JSON. */
  value: unknown;
  /** Base folder for the files that the document names. */
  folder: string;
  /**
   * Makes a validation error with its position: `site.yaml, document 2, line 12: venues[0].name`.
   */
  complaint(path: Path, message: string): FieldError;
  /** Returns the position for people: `site.yaml, line 12`. */
  place(path: Path): string;
  /** Returns a number or another scalar as written: `0x10`. `undefined` for other parts. */
  written(path: Path): string | undefined;
}

/**
 * Maximum number of syntax errors to report. Further errors are usually consequences of the first.
 */
const maxSyntaxErrors = 20;

/** Limits alias expansion (`&` and `*`), so that a small file cannot expand into a huge one. */
const maxAliasCount = 100_000;

/** Returns the offset of the deepest existing part of a path. */
function offsetOf(document: Document.Parsed, path: Path): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range[0] ?? document.range[0];
}

function writtenAt(document: Document.Parsed, path: Path): string | undefined {
  const found = document.getIn(path, true);
  const node = isAlias(found) ? found.resolve(document) : found;
  return isScalar(node) ? node.source : undefined;
}

/** Normalizes a value to JSON, and drops `__proto__` keys as the service does. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null', (key, one) =>
    key === '__proto__' ? undefined : one,
  );
}

/** Maximum nesting, as in the bodies of the service (docs/protocol.md §1.7). Recursion is safe. */
const maxDepth = 64;

const tooDeep = (file: string, cause?: unknown) =>
  new SignageError('invalid_file', `${file} is nested too deeply: at most ${maxDepth} levels.`, {
    cause,
  });

/** Whether a value has more than `levels` of arrays and objects. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

function contentOf(document: Document.Parsed, file: string): unknown {
  try {
    return asJson(document.toJS({ maxAliasCount }));
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(file, error);
    throw new SignageError('invalid_file', `${file} cannot be used: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce(
    (sum: number, one) => sum + countMembers(one),
    Array.isArray(value) ? 0 : inner.length,
  );
}

/**
 * Parses a JSON object directly, about 100 times faster than the YAML parser. Returns `undefined`
 * for other text, and for JSON in which a member occurs twice.
 */
function asPlainJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const written = [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)].filter(
      ([, colon]) => colon,
    ).length;
    return written === countMembers(value) ? asJson(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A byte order mark at the start of a document after the first one. Joined files have it. */
const innerMark = /(?<=^(?:---|\.\.\.).*\r?\n)\ufeff|^\ufeff(?=---)/gm;

function parseYaml(
  text: string,
  file: string,
): { documents: Document.Parsed[]; lines: LineCounter } {
  const lines = new LineCounter();
  const documents = [
    ...parseAllDocuments(text.replaceAll(innerMark, ''), {
      lineCounter: lines,
      prettyErrors: true,
      uniqueKeys: true,
      merge: true,
    }),
  ];
  const lineOf = ({ pos: [offset] }: { pos: [number, number] }) => lines.linePos(offset).line;
  // The further errors of a line follow from its first one.
  const findings = documents
    .flatMap(({ errors }) => errors)
    .filter((one, at, all) => at === 0 || lineOf(one) !== lineOf(all[at - 1] ?? one))
    .slice(0, maxSyntaxErrors);
  // The parser recurses, and has no limit of its own.
  if (findings.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) throw tooDeep(file);
  if (findings.length > 0)
    throw invalidFile(
      findings.map(({ pos: [offset], message }) => {
        const { line, col } = lines.linePos(offset);
        const [what] = message.split(/ at line |:?\n/, 1);
        return {
          path: `${file}, line ${line}, column ${col}`,
          message: `is not valid YAML or JSON: ${what}`,
        };
      }),
    );
  return { documents, lines };
}

/**
 * Parses the documents of a YAML or JSON text. Skips empty documents. Throws `invalid_file` with
 * the positions of syntax errors.
 */
export function parseDocuments(text: string, path: string): SourceDocument[] {
  const file = path === '-' ? 'stdin' : path;
  const parse = memoize(() => parseYaml(text, file));
  const plain = asPlainJson(text);
  const values =
    plain === undefined ? parse().documents.map((document) => contentOf(document, file)) : [plain];
  return values.flatMap((value, at) => {
    if (value === null) return [];
    if (isDeeper(value, maxDepth)) throw tooDeep(file);
    const place = (where: Path) => {
      const { documents, lines } = parse();
      const number = documents.length > 1 ? `, document ${at + 1}` : '';
      return `${file}${number}, line ${lines.linePos(offsetOf(documents[at] as Document.Parsed, where)).line}`;
    };
    const complaint = (where: Path, message: string) => ({
      path: `${place(where)}: ${memberPath(where) || 'the document'}`,
      message,
    });
    const written = (where: Path) => writtenAt(parse().documents[at] as Document.Parsed, where);
    return [{ value, folder: path === '-' ? '.' : dirname(path), place, written, complaint }];
  });
}

/** Returns the position of an error: `site.yaml, document 2, line 12`. */
const positionOf = ({ path }: FieldError) => path.split(': ', 1)[0] ?? path;

/**
 * Combines errors of files into one error, without duplicates, sorted by file and line. Its message
 * contains the first error and the number of others.
 */
export function invalidFile(fieldErrors: readonly FieldError[]): SignageError {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const different = new Map(fieldErrors.map((one) => [`${one.path}: ${one.message}`, one]));
  const errors = [...different.values()].toSorted((a, b) => compare(positionOf(a), positionOf(b)));
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new SignageError('invalid_file', `${first?.path}: ${first?.message}${more}`, { errors });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null ? inner[part as keyof typeof inner] : undefined,
    value,
  );
}

/** Adds a hint to numbers and booleans that must be strings, a common mistake in YAML labels. */
function quoteHint(message: string, value: unknown, written: () => string | undefined): string {
  const isMeant = message === 'must be a string' && ['number', 'boolean'].includes(typeof value);
  if (!isMeant) return message;
  const text = written();
  return `${message}: put it in quotes${text === undefined ? '' : `, "${text}"`}`;
}

function fieldErrorsOf(issue: z.core.$ZodIssue, document: SourceDocument): FieldError[] {
  const isUnknown = issue.code === 'unrecognized_keys';
  return wrongMembers(issue, 'is not a known entry: check the spelling').map(
    ({ path, message }) => {
      const value = valueAt(document.value, path);
      const isMissing = value === undefined && path.length > 0 && !isUnknown;
      return document.complaint(
        path,
        isMissing ? 'is missing' : quoteHint(message, value, () => document.written(path)),
      );
    },
  );
}

/**
 * Validates a document against a schema. If it is invalid, adds the first error of each member to
 * `fieldErrors`, and returns `undefined`.
 */
export function checkDocument<S extends z.ZodType>(
  schema: S,
  document: SourceDocument,
  fieldErrors: FieldError[],
): z.output<S> | undefined {
  const result = schema.safeParse(document.value);
  if (result.success) return result.data;
  const seen = new Set<string>();
  for (const complaint of result.error.issues.flatMap((issue) => fieldErrorsOf(issue, document))) {
    if (!seen.has(complaint.path)) fieldErrors.push(complaint);
    seen.add(complaint.path);
  }
  return undefined;
}
