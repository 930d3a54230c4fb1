import { dirname } from 'node:path';
import { type Document, isNode, LineCounter, parseAllDocuments } from 'yaml';
import { type FieldError, SignageError } from '../../domain/error.ts';
import { memoize } from '../command/memoize.ts';

/** Where something stands in a document: `['venues', 0, 'name']`. */
export type Path = readonly PropertyKey[];

/** One document of a file, and where in the file its parts stand. */
export interface SourceDocument {
  /** As JSON would have it. */
  value: unknown;
  /** From where the files that it names are found. */
  folder: string;
  /** A complaint about what stands at a path: `site.yaml, document 2, line 12: /venues/0/name`. */
  complaint(path: Path, message: string): FieldError;
  /** Where something stands, for a reader: `site.yaml, line 12`. */
  place(path: Path): string;
}

/** No more copies than this are made of what is written once (`&` and `*`), lest a small file blows up into a large one. */
const maxAliasCount = 100_000;

/** Where the deepest part of a path that is there begins; all of it is there, unless something is missing. */
function offsetOf(document: Document.Parsed, path: Path): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range[0] ?? document.range[0];
}

const pointer = (path: Path) =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** As the service will have it after JSON: what JSON does not know goes, as does what the service drops. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null', (key, one) =>
    key === '__proto__' ? undefined : one,
  );
}

function contentOf(document: Document.Parsed, file: string): unknown {
  try {
    return asJson(document.toJS({ maxAliasCount }));
  } catch (error) {
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

/** JSON without the way through YAML, which takes a hundred times as long; `undefined` for all else, and where a member is written twice. */
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

function parseYaml(
  text: string,
  file: string,
): { documents: Document.Parsed[]; lines: LineCounter } {
  const lines = new LineCounter();
  const documents = [
    ...parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: true,
      uniqueKeys: true,
      merge: true,
    }),
  ];
  const [first] = documents.flatMap(({ errors }) => errors);
  if (first)
    throw new SignageError(
      'invalid_file',
      `${file} is no YAML or JSON: ${first.message.split('\n', 1)[0]?.replace(/:$/, '')}.`,
    );
  return { documents, lines };
}

/** The documents of a YAML or JSON text; empty ones are left out. Throws `invalid_file` with the place of the mistake. */
export function parseDocuments(text: string, path: string): SourceDocument[] {
  const file = path === '-' ? 'stdin' : path;
  const parse = memoize(() => parseYaml(text, file));
  const plain = asPlainJson(text);
  const values =
    plain === undefined ? parse().documents.map((document) => contentOf(document, file)) : [plain];
  return values.flatMap((value, at) => {
    if (value === null) return [];
    const place = (where: Path) => {
      const { documents, lines } = parse();
      const number = documents.length > 1 ? `, document ${at + 1}` : '';
      return `${file}${number}, line ${lines.linePos(offsetOf(documents[at] as Document.Parsed, where)).line}`;
    };
    const complaint = (where: Path, message: string) => ({
      path: `${place(where)}: ${pointer(where) || 'the document'}`,
      message,
    });
    return [{ value, folder: path === '-' ? '.' : dirname(path), place, complaint }];
  });
}

/** The error that fieldErrors findOrCreate together: the first is told, the others are countText, and listed under it. */
export function invalidFile(fieldErrors: readonly FieldError[]): SignageError {
  const [first] = fieldErrors;
  const more = fieldErrors.length > 1 ? ` (and ${fieldErrors.length - 1} more)` : '';
  return new SignageError('invalid_file', `${first?.path}: ${first?.message}${more}`, {
    errors: [...fieldErrors],
  });
}
