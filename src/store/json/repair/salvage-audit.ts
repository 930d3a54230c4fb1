import type { SealedEntry } from '../../audit/audit-chain.ts';
import { frameEntry, type PlacedEntry, placeOf, sealedOf } from '../audit/pages.ts';
import type { JournalRecord } from '../journal/segments.ts';
import { dayFile, isDayFile, type LogFilesPosition } from '../log/day-files.ts';
import { isWhole, readFrames } from '../log/frame.ts';
import { reportMissingFiles } from './missing-files.ts';
import { NewFile, type RepairContext } from './repair-context.ts';

interface AuditMark extends LogFilesPosition {
  seq: number;
}

/**
 * Writes all whole entries into new day files. Those that are lost and still in the journal come from there.
 * Answers the mark: the journal hands in again only what comes after it.
 */
export async function salvageAudit(
  context: RepairContext,
  mark: AuditMark | undefined,
  records: readonly JournalRecord[],
): Promise<AuditMark | undefined> {
  return new AuditSalvage(context, mark, records).run();
}

class AuditSalvage {
  readonly #context: RepairContext;
  readonly #mark: AuditMark | undefined;
  readonly #entries: PlacedEntry[];
  readonly #sizes: Record<string, number> = {};
  #file: NewFile | undefined;
  #last = { file: '', seq: 0, n: -1 };
  #damaged = 0;
  #broughtBack = 0;

  constructor(
    context: RepairContext,
    mark: AuditMark | undefined,
    records: readonly JournalRecord[],
  ) {
    this.#context = context;
    this.#mark = mark;
    this.#entries = entriesOf(records);
  }

  async run(): Promise<AuditMark | undefined> {
    const { from, log } = this.#context;
    const { file = null, gone } = this.#mark ?? {};
    const isGone = (name: string) => gone === true && file !== null && name <= file;
    const there = (await from.disk.list(`${from.directory}/audit`)).filter(isDayFile).sort();
    const expected = await reportMissingFiles(this.#context, 'audit', this.#mark, there);
    const names = there.filter((name) => !isGone(name));
    // What retention has taken does not come back.
    const [oldest = '~'] = [...expected, ...names].sort();
    const wanted = this.#entries.filter((entry) => entry.file >= oldest && !isGone(entry.file));
    for (const name of names) await this.#copy(name, wanted);
    const limit = Math.max(this.#last.seq, this.#mark?.seq ?? 0);
    await this.#addBefore({ seq: limit, n: Number.POSITIVE_INFINITY }, wanted);
    await this.#file?.close();
    const [damaged, brought] = [this.#damaged, this.#broughtBack];
    if (brought > 0) log.add('audit', `${brought} entries were brought back from the journal`);
    if (damaged > brought) log.add('audit', 'entries are lost', { lost: damaged - brought });
    return this.#newMark();
  }

  async #copy(name: string, wanted: PlacedEntry[]): Promise<void> {
    const { from, log } = this.#context;
    for await (const { line, offset } of readFrames(from.disk, `${from.directory}/audit/${name}`)) {
      const place = isWhole(line) && sealedOf(line) ? placeOf(line) : undefined;
      if (!place || !isAfter(place, this.#last)) {
        log.add(`audit/${name}`, 'a damaged entry was left out', { offset });
        this.#damaged++;
        continue;
      }
      await this.#addBefore(place, wanted, name);
      await this.#write(
        name,
        this.#context.dropsLinks
          ? withoutLink(line, place)
          : Buffer.concat([line, Buffer.of(0x0a)]),
        place,
      );
    }
  }

  /** Entries of the journal that the files should have before this place. */
  async #addBefore(
    place: { seq: number; n: number },
    wanted: PlacedEntry[],
    name?: string,
  ): Promise<void> {
    while (wanted[0] && isAfter(place, wanted[0])) {
      const entry = wanted.shift() as PlacedEntry;
      if (!isAfter(entry, this.#last)) continue;
      const file = name ?? (entry.file > this.#last.file ? entry.file : this.#last.file);
      await this.#write(file, entry.bytes, entry);
      this.#broughtBack++;
    }
    if (wanted[0] && !isAfter(wanted[0], place)) wanted.shift();
  }

  async #write(name: string, bytes: Buffer, { seq, n }: { seq: number; n: number }): Promise<void> {
    if (name !== this.#last.file) {
      await this.#file?.close();
      const { disk, directory } = this.#context.into;
      this.#file = await NewFile.create(disk, `${directory}/audit/${name}`);
    }
    await this.#file?.add(bytes);
    this.#sizes[name] = this.#file?.size ?? 0;
    this.#last = { file: name, seq, n };
  }

  #newMark(): AuditMark | undefined {
    const { file, seq } = this.#last;
    if (file === '') return this.#mark?.gone ? this.#mark : undefined;
    const { [file]: size = 0, ...files } = this.#sizes;
    return { file, size, seq, files };
  }
}

function isAfter(place: { seq: number; n: number }, other: { seq: number; n: number }): boolean {
  return place.seq > other.seq || (place.seq === other.seq && place.n > other.n);
}

/** In the files in which the trail would have put them. */
function entriesOf(records: readonly JournalRecord[]): PlacedEntry[] {
  let newest = '';
  return records.flatMap(({ seq, ops }) =>
    ops
      .flatMap((op): SealedEntry[] =>
        op[0] === 'audit' ? [{ entry: op[1], ...(op[2] && { link: op[2] }) }] : [],
      )
      .map(({ entry, link }, n) => {
        const file = dayFile(entry.at);
        if (file > newest) newest = file;
        return { seq, n, file: newest, bytes: frameEntry(seq, n, entry, link) };
      }),
  );
}

function withoutLink(line: Buffer, { seq, n }: { seq: number; n: number }): Buffer {
  return frameEntry(seq, n, (sealedOf(line) as SealedEntry).entry);
}
