import { dirname } from 'node:path';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
} from 'yaml';
import { type FieldError, SignageError } from '../../domain/error.ts';
import { changedNumbers, keepsValue } from '../../domain/json/changed-numbers.ts';
import { protoPaths } from '../../domain/json/proto-members.ts';
import { memberPath } from '../../domain/json/schema-issue.ts';
import { memoize } from '../terminal/memoize.ts';

/** Path inside a document: `['venues', 0, 'name']`. */
export type Path = readonly PropertyKey[];

/** A number of YAML that JSON writes in another way, such as `0042` or `1.10`. */
export interface OddNumber {
  path: Path;
  written: string;
  value: number;
}

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
  /** Numbers of YAML that would be written in another way. */
  oddNumbers: readonly OddNumber[];
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

/** Normalizes a value to JSON. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null');

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

function documentValue(document: Document.Parsed, file: string): unknown {
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
 * Parses JSON directly, about 100 times faster than the YAML parser. Returns `undefined`
 * for other text, and for JSON in which a member occurs twice.
 */
function asPlainJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
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

const isChanged = ({ written, value }: OddNumber) =>
  /^[-+]?0[xo]/.test(written) ? !Number.isSafeInteger(value) : !keepsValue(written);

/** Returns the numbers below a node that JSON writes in another way. */
function numbersIn(node: unknown, path: Path = []): OddNumber[] {
  if (isMap(node))
    return node.items.flatMap(({ key, value }) =>
      numbersIn(value, [...path, String(isScalar(key) ? key.value : key)]),
    );
  if (isSeq(node)) return node.items.flatMap((one, at) => numbersIn(one, [...path, at]));
  if (!isScalar(node) || typeof node.value !== 'number') return [];
  const { value, source: written = String(value) } = node;
  return written === String(value) ? [] : [{ path, written, value }];
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
    plain === undefined
      ? parse().documents.map((document) => documentValue(document, file))
      : [plain];
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
    const numbers = plain === undefined ? numbersIn(parse().documents[at]?.contents) : [];
    const changed = plain === undefined ? numbers.filter(isChanged) : changedNumbers(text);
    if (changed.length > 0)
      throw invalidFile(
        changed.map((one) =>
          complaint(one.path, `does not fit into a number: write it as text, "${one.written}"`),
        ),
      );
    const lost = protoPaths(text, value);
    if (lost.length > 0)
      throw invalidFile(
        lost.map((one) => complaint(one, 'is a name that the service does not keep')),
      );
    const folder = path === '-' ? '.' : dirname(path);
    return [{ value, folder, place, written, complaint, oddNumbers: [...numbers] }];
  });
}
