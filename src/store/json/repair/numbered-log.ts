import type { ManifestData } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import type { LogFilesPosition } from '../log/day-files.ts';
import {
  fileProblems,
  type LogFiles,
  type LogFormat,
  type LogLine,
  listLog,
  readLog,
} from '../log/log-records.ts';
import type { FolderFinding, FolderFindings } from './finding.ts';

/**
 * Part of a log that a line is in. `tail`: after the manifest's position, at the end, where a crash
 * may have interrupted a write. `foreign`: after the position of a store that was stopped.
 */
export type LogPart = 'kept' | 'tail' | 'foreign';

/** A place in a log. `file` includes the folder. */
interface LinePosition {
  file: string;
  offset: number | null;
}

const nothing = { offset: null, lines: 0, tailLines: 0 };

interface NumberedLogOptions {
  /** Returns the number of the record before the first one. `undefined`: unknown. */
  before(first: number): number | undefined;
  /** All records up to this number are also elsewhere, so that nothing is lost with them. */
  alsoIn?: number;
}

/**
 * Follows the numbers of a log's records, and reports the missing ones once per gap, at its first
 * damaged line.
 */
export class NumberedLog {
  /** The log lacks at least one record up to this number. 0: it lacks none. */
  lastMissing = 0;
  readonly #section: FolderFinding['section'];
  readonly #findings: FolderFindings;
  readonly #options: NumberedLogOptions;
  #isEmpty = true;
  #last: number | undefined;
  /** Damaged lines since the last record, and those of them that are in the tail. */
  #damaged: (LinePosition & { lines: number; tailLines: number }) | undefined;

  constructor(
    section: FolderFinding['section'],
    findings: FolderFindings,
    options: NumberedLogOptions,
  ) {
    this.#section = section;
    this.#findings = findings;
    this.#options = options;
  }

  get last(): number {
    return this.#last ?? 0;
  }

  damaged(file: string, offset: number | null, part: LogPart): void {
    if (part === 'foreign') {
      this.#findings.damage(file, 'this is not a record of this log', { offset });
      return;
    }
    this.#damaged ??= { file, offset, lines: 0, tailLines: 0 };
    this.#damaged.lines++;
    if (part === 'tail') this.#damaged.tailLines++;
  }

  /** Takes the next record. Without a number, all damaged lines before it count as lost. */
  found(number: number | undefined, file: string, offset: number | null): void {
    if (this.#isEmpty && number !== undefined) {
      this.#isEmpty = false;
      this.#last = this.#options.before(number);
      this.lastMissing = number - 1;
    }
    const { lines, ...place } = this.#damaged ?? { file, offset, lines: 0 };
    const isCounted = number !== undefined && this.#last !== undefined;
    const missing = isCounted ? number - this.last - 1 : lines;
    if (missing > 0 || lines > 0)
      this.#report('damage', place, missing, isCounted ? number - 1 : undefined);
    this.#damaged = undefined;
    this.#last = number ?? this.#last;
  }

  /** Skips records that were lost before, up to this number. */
  skip(number: number): void {
    this.#isEmpty = false;
    this.#last = number;
  }

  /** Call after the last record. `known`: records up to this number have existed. */
  end(known: number, file: string): void {
    if (this.#isEmpty) {
      this.#last = this.#options.before(Number.POSITIVE_INFINITY);
      this.lastMissing = known;
    }
    const { lines, tailLines, ...place } = this.#damaged ?? { ...nothing, file };
    const isCounted = this.#last !== undefined;
    const missing = isCounted ? Math.max(known - this.last, tailLines, 0) : lines;
    if (missing === 0 && lines === 0) return;
    const level = lines > 0 && lines === tailLines && known <= this.last ? 'note' : 'damage';
    this.#report(level, place, missing, isCounted ? this.last + missing : undefined);
  }

  /** @param to number of the last missing record; `undefined`: unknown */
  #report(
    level: 'damage' | 'note',
    { file, offset }: LinePosition,
    missing: number,
    to: number | undefined,
  ): void {
    const from = to === undefined ? undefined : to - missing + 1;
    if (missing > 0 && to !== undefined) this.lastMissing = to;
    const { alsoIn = 0 } = this.#options;
    const lost =
      to === undefined || from === undefined ? null : Math.max(0, to - Math.max(from - 1, alsoIn));
    const which = from === to ? `record ${to} is` : `records ${from} to ${to} are`;
    const what =
      missing === 0
        ? 'a damaged line was left out'
        : `${to === undefined ? 'the first records are' : which} damaged or missing`;
    this.#findings[level](file, what, { section: lost === 0 ? null : this.#section, offset, lost });
  }
}

/** Lists the files of a log that retention has kept, and reports missing and changed ones. */
export async function filesOf<Position extends LogFilesPosition>(
  context: PartContext,
  format: LogFormat<unknown, Position>,
  manifest: ManifestData | undefined,
  findings: FolderFindings,
): Promise<{ log: LogFiles; position: Position; clean: boolean }> {
  const position = (manifest?.marks[format.folder] as Position | undefined) ?? format.start;
  const log = await listLog(context, format, position);
  const clean = manifest?.clean ?? false;
  const state = clean ? 'stopped' : 'crashed';
  for (const { file, what, offset } of await fileProblems(log, position, state)) {
    // The numbers of its records are unknown. Those that later files lack are counted with them.
    const isEmpty = offset === 0 || !log.names.includes(file);
    const isOldest = !format.isCheckpointed && log.names.every((name) => name >= file);
    const lost = isOldest && isEmpty ? null : 0;
    findings.damage(`${format.folder}/${file}`, what, { offset, lost });
  }
  return { log, position, clean };
}

/** Yields all lines of a log. A write at the end that a crash has interrupted is only noted. */
export async function* linesOf<Head>(
  log: LogFiles,
  headOf: (line: Buffer) => Head | undefined,
  position: LogFilesPosition,
  { clean }: { clean: boolean },
  findings?: FolderFindings,
): AsyncGenerator<LogLine<Head> & { path: string; part: LogPart }> {
  const newest = log.names.at(-1);
  const folder = log.directory.slice(log.directory.lastIndexOf('/') + 1);
  for await (const line of readLog(log, headOf)) {
    const { file, offset, isTorn, head } = line;
    const path = `${folder}/${file}`;
    const isAfter = position.file === null || file > position.file || offset >= position.size;
    const part = isAfter && clean ? 'foreign' : isAfter && file === newest ? 'tail' : 'kept';
    if (!head && part === 'tail' && isTorn)
      findings?.note(
        path,
        'it ends in a record that was never acknowledged: the next start cuts it off',
        { offset },
      );
    else yield { ...line, path, part };
  }
}
