import type {
  AuditLink,
  ChainGap,
  ChainKey,
  ChainState,
  SealedEntry,
} from '../../audit/audit-chain.ts';
import {
  auditFormat,
  type EntryPosition,
  isAfter,
  positionOf,
  sealedOf,
} from '../audit/entry-record.ts';
import type { ManifestData } from '../checkpoint/manifest.ts';
import type { PartContext } from '../disk/parts.ts';
import { entriesIn, type JournalRecord } from '../journal/segments.ts';
import { dayFile, type LogFilesPosition } from '../log/day-files.ts';
import type { LogFiles } from '../log/log-records.ts';
import type { FolderFindings } from './finding.ts';
import { filesOf, type LogPart, linesOf, NumberedLog } from './numbered-log.ts';

/** An entry, or a damaged line. */
interface TrailLine {
  file: string;
  offset: number | null;
  part: LogPart;
  sealed: SealedEntry | undefined;
}

/** The undamaged entries of an audit trail: those of the day files, and those of the journal. */
export class DamagedTrail {
  readonly #context: PartContext;
  readonly #manifest: ManifestData | undefined;
  readonly #journal: readonly (EntryPosition & { sealed: SealedEntry })[];
  readonly #key: ChainKey;
  readonly #newWriter: string | undefined;
  #files!: { log: LogFiles; position: LogFilesPosition; clean: boolean };

  /** @param newWriter with a new secret: writes the links of all entries again */
  constructor(
    context: PartContext,
    manifest: ManifestData | undefined,
    records: readonly JournalRecord[],
    key: ChainKey,
    newWriter?: string,
  ) {
    this.#context = context;
    this.#manifest = manifest;
    this.#journal = entriesOf(records);
    this.#key = key;
    this.#newWriter = newWriter;
  }

  /**
   * Reads all entries, and reports the lost ones. Returns the state of their chain, with a signed
   * gap for each run of lost entries, or the head of the new chain. Entries with a wrong MAC stay
   * as they are, and checks keep reporting them.
   */
  async read(findings: FolderFindings): Promise<ChainState> {
    const key = this.#key;
    this.#files = await filesOf(this.#context, auditFormat, this.#manifest, findings);
    const state = (this.#manifest?.marks.chain as ChainState | undefined) ?? {};
    const isNew = this.#newWriter !== undefined;
    const start = state.start && key.isStart(state.start) ? state.start : undefined;
    const gaps: ChainGap[] = [...(state.gaps ?? [])];
    const numbers = new NumberedLog('audit', findings, {
      before: () => (this.#manifest ? (state.start?.seq ?? 0) : undefined),
    });
    let last: AuditLink | undefined = start;
    let place = 'audit';
    for await (const { file, offset, part, sealed } of this.#merged(findings)) {
      place = file;
      if (!sealed) {
        numbers.damaged(file, offset, part);
        continue;
      }
      const { entry, link } = sealed;
      const from = (last?.seq ?? 0) + 1;
      if (link.seq < from) continue;
      const gap = link.seq > from && key.gap(from, link, JSON.stringify(entry));
      if (gap && !gaps.some(({ sig }) => sig === gap.sig)) gaps.push(gap);
      else if (gap) numbers.skip(gap.to);
      numbers.found(link.seq, file, offset);
      last = link;
    }
    const { head } = state;
    numbers.end(head && (isNew || key.isHead(head)) ? head.seq : 0, place);
    if (isNew) {
      last = undefined;
      for await (const { link } of this.entries()) last = link;
      return last ? { head: key.head(last) } : {};
    }
    return {
      ...(start && { start }),
      ...(last && { head: key.head(last) }),
      ...(gaps.length > 0 && { gaps }),
    };
  }

  async *entries(): AsyncGenerator<SealedEntry> {
    let last: AuditLink | undefined;
    for await (const { sealed } of this.#merged()) {
      if (!sealed) continue;
      const { entry, link } = sealed;
      last = this.#newWriter ? this.#key.link(this.#newWriter, last, JSON.stringify(entry)) : link;
      yield { entry, link: last };
    }
  }

  /** Yields the entries of the day files, and at their places those that only the journal has. */
  async *#merged(findings?: FolderFindings): AsyncGenerator<TrailLine> {
    const { start } = (this.#manifest?.marks.chain as ChainState | undefined) ?? {};
    const firstDay = start?.day ?? '';
    const isKept = (file: string) => file.slice(0, 10) >= firstDay;
    const { log, position } = this.#files;
    const names = log.names.filter(isKept);
    const missing = this.#missing(names).filter(({ file }) => isKept(file));
    let last = { seq: 0, n: -1 };
    const fromJournal = function* (isBefore: (entry: EntryPosition) => boolean) {
      for (let entry = missing[0]; entry && isBefore(entry); entry = missing[0]) {
        missing.shift();
        if (!isAfter(entry, last)) continue;
        last = entry;
        yield { file: 'journal', offset: null, part: 'kept' as const, sealed: entry.sealed };
      }
    };
    const headOf = (line: Buffer) => {
      const sealed = sealedOf(line);
      const number = positionOf(line);
      return sealed && number && { sealed, number };
    };
    const lines = linesOf({ ...log, names }, headOf, position, this.#files, findings);
    for await (const { path: file, offset, head, part } of lines) {
      if (!head || !isAfter(head.number, last)) {
        yield { file, offset, part, sealed: undefined };
        continue;
      }
      yield* fromJournal((entry) => isAfter(head.number, entry));
      last = head.number;
      yield { file, offset, part, sealed: head.sealed };
    }
    yield* fromJournal(() => true);
  }

  /** Returns the entries of the journal, except those that retention has deleted. */
  #missing(names: readonly string[]): (EntryPosition & { sealed: SealedEntry })[] {
    const { file = null, gone, files = {} } = this.#files.position;
    const expected = [...Object.keys(files), ...(file === null || gone ? [] : [file])];
    const [oldest = ''] = [...expected, ...names].sort();
    const isGone = (name: string) => gone === true && file !== null && name <= file;
    return this.#journal.filter((entry) => entry.file >= oldest && !isGone(entry.file));
  }
}

/** Returns the journal's audit entries, with the day files to which the trail would write them. */
function entriesOf(records: readonly JournalRecord[]) {
  let newest = '';
  return records.flatMap((record) =>
    entriesIn(record).map((sealed, n) => {
      const file = dayFile(sealed.entry.at);
      if (file > newest) newest = file;
      return { seq: record.seq, n, file: newest, sealed };
    }),
  );
}
