import { crc32 } from 'node:zlib';
import { yieldToEventLoop } from '../disk/yield.ts';
import { LoadedLines } from './loaded-lines.ts';
import { sortCooperatively } from './sort-cooperatively.ts';

/** Format of the lines of a table. Each line has one value. */
export interface LineFormat<V> {
  /** Text of a line before the id. */
  opening: string;
  parse(line: string): V;
  render(id: string, value: V): string;
}

/** The values of one document: lines as loaded, and values that were set since. */
interface TableDocument<V> {
  loaded: LoadedLines;
  values: Map<string, V>;
}

/**
 * A table in memory whose documents have one line per value, found by id. A loaded line stays bytes
 * until its value is set.
 */
export class LineTable<V> {
  readonly #documentOf: (id: string) => string;
  readonly #format: LineFormat<V>;
  readonly #documents = new Map<string, TableDocument<V>>();

  /** @param documentOf returns the name of the document that holds an id */
  constructor(documentOf: (id: string) => string, format: LineFormat<V>) {
    this.#documentOf = documentOf;
    this.#format = format;
  }

  load(document: string, bytes: Buffer): void {
    const loaded = new LoadedLines(bytes, this.#format.opening);
    this.#documents.set(document, { loaded, values: new Map() });
  }

  /** Returns a value. Until the value is set, each call parses its loaded line. */
  get(id: string): V | undefined {
    const document = this.#documents.get(this.#documentOf(id));
    const value = document?.values.get(id);
    if (value !== undefined) return value;
    const line = document?.loaded.get(id);
    return line === undefined ? undefined : this.#format.parse(line);
  }

  set(id: string, value: V): void {
    const name = this.#documentOf(id);
    if (!this.#documents.has(name)) this.load(name, Buffer.alloc(0));
    const document = this.#documents.get(name) as TableDocument<V>;
    document.loaded.delete(id);
    document.values.set(id, value);
  }

  /** Returns whether the value existed. */
  delete(id: string): boolean {
    const document = this.#documents.get(this.#documentOf(id));
    const wasLoaded = document?.loaded.delete(id) === true;
    return document?.values.delete(id) === true || wasLoaded;
  }

  /**
   * Iterates over all ids. Callers may set and delete values during the iteration. An id whose
   * value is set meanwhile may appear twice.
   */
  *ids(): Generator<string> {
    for (const { loaded, values } of this.#documents.values()) {
      yield* loaded.ids();
      yield* values.keys();
    }
  }

  /** Calls `use` for each value that was set. */
  eachValue(use: (value: V) => void): void {
    for (const { values } of this.#documents.values())
      for (const value of values.values()) use(value);
  }

  /**
   * Returns the lines as they are now, to be read later, sorted by id. Values that are set later do
   * not matter. A value that changes in place is read as it then is.
   */
  snapshot(): () => AsyncGenerator<string> {
    const documents = Array.from(this.#documents.values(), ({ loaded, values }) => ({
      loaded: loaded.snapshot(),
      values: [...values],
    }));
    const { render } = this.#format;
    return async function* () {
      const lines = new Map<string, LoadedLines | V>();
      for (const { loaded, values } of documents) {
        for (const id of loaded.ids()) lines.set(id, loaded);
        for (const [id, value] of values) lines.set(id, value);
        await yieldToEventLoop();
      }
      for (const id of await sortCooperatively([...lines.keys()])) {
        const line = lines.get(id) as LoadedLines | V;
        yield line instanceof LoadedLines ? (line.get(id) as string) : render(id, line);
      }
    };
  }

  /**
   * Returns the lines of a document: loaded lines first, then the others in the order in which
   * their ids were first set.
   */
  lines(document: string): string[] {
    const { loaded, values } = this.#documents.get(document) ?? {};
    return [
      ...(loaded?.texts() ?? []),
      ...Array.from(values ?? [], ([id, value]) => this.#format.render(id, value)),
    ];
  }
}

/**
 * Returns a function that maps a record's id to one of `count` document names. A name is `<kind>-`
 * and hexadecimal digits of fixed length.
 */
export function shardNames(kind: string, count: number): (id: string) => string {
  const digits = (count - 1).toString(16).length;
  const names = Array.from(
    { length: count },
    (_, n) => `${kind}-${n.toString(16).padStart(digits, '0')}`,
  );
  return (id) => names[crc32(id) % count] as string;
}
