import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { LineTable } from '../checkpoint/line-table.ts';
import type { EventProgress } from '../log/event-record.ts';

/**
 * Values of devices, made from their batches. The documents have one line per device:
 * `["<deviceId>",<value as JSON>]`. At start the event log replays the batches that a document
 * lacks.
 */
export abstract class DeviceDocuments<V> implements DocumentOwner {
  abstract readonly kind: string;
  readonly log = 'events';
  protected readonly values: LineTable<V>;
  readonly #documentOf: (deviceId: string) => string;
  /** Number of the last batch that each loaded document contains. */
  readonly #loadedSeqs = new Map<string, number>();
  readonly #dirty = new Set<string>();
  readonly #progress: EventProgress;

  constructor(
    progress: EventProgress,
    documentOf: (deviceId: string) => string,
    parse: (value: unknown) => V,
  ) {
    this.#progress = progress;
    this.#documentOf = documentOf;
    this.values = new LineTable(documentOf, {
      opening: '["',
      parse: (line) => parse((JSON.parse(line) as unknown[])[1]),
      render: (deviceId, value) => JSON.stringify([deviceId, value]),
    });
  }

  /** Whether the loaded document of a device contains a batch already. */
  protected contains(deviceId: string, seq: number): boolean {
    return seq <= (this.#loadedSeqs.get(this.#documentOf(deviceId)) ?? 0);
  }

  set(deviceId: string, value: V): void {
    this.values.set(deviceId, value);
    this.#dirty.add(this.#documentOf(deviceId));
  }

  /** Returns the lines of all devices as they are now, to be read later, sorted by device. */
  snapshot(): () => AsyncGenerator<string> {
    return this.values.snapshot();
  }

  forget(deviceId: string): void {
    if (this.values.delete(deviceId)) this.#dirty.add(this.#documentOf(deviceId));
  }

  dirty(): string[] {
    return this.#progress.due() ? [...this.#dirty] : [];
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    this.#dirty.delete(name);
    const lines = this.values.lines(name);
    return lines.length === 0 ? undefined : { lines, seq: this.#progress.seq() };
  }

  failed(name: string): void {
    this.#dirty.add(name);
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    this.#loadedSeqs.set(name, document.seq);
    this.values.load(name, await document.bytes());
  }
}
