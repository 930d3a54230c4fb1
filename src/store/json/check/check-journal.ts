import type { FileSystem } from '../disk/file-system.ts';
import { type LogPosition, recordHead, segmentsFrom } from '../journal/segments.ts';
import type { FoundFrame } from '../log/frame.ts';
import type { ManifestData } from '../manifest.ts';
import { checkLines } from './check-lines.ts';
import type { Findings } from './finding.ts';

const journalStart: LogPosition = { file: null, size: 0, seq: 0, at: 0 };

/** Checks the segments that a start reads, as `SegmentReader` does, but continues after damage. */
export async function checkJournal(
  disk: FileSystem,
  directory: string,
  manifest: ManifestData,
  findings: Findings,
): Promise<void> {
  const position = (manifest.marks.journal as LogPosition | undefined) ?? journalStart;
  const names = await segmentsFrom(disk, `${directory}/journal`, position.file);
  const { clean } = manifest;
  if (position.file !== null && names[0] !== position.file)
    findings.damage(`journal/${position.file}`, 'the file is missing');
  let next = position.file === null ? position.seq + 1 : undefined;
  for (const segment of names) {
    const name = `journal/${segment}`;
    const first = Number.parseInt(segment, 10);
    if (next !== undefined && first !== next)
      findings.damage(name, `it begins with record ${first} where record ${next} must follow`, 0);
    let expected = first;
    const checkLine = ({ line, offset, length }: FoundFrame, afterGap: boolean) => {
      const { seq } = recordHead(line) ?? {};
      if (seq === undefined) return 'this is not a record of the journal';
      const wrong =
        seq === expected || (afterGap && seq > expected)
          ? undefined
          : `record ${expected} must be here`;
      expected = seq + 1;
      if (!wrong && seq === position.seq && offset + length !== position.size)
        return `record ${seq} does not end where the manifest says`;
      return wrong;
    };
    const minimumBytes = segment === position.file ? position.size : 0;
    const tornFrom = segment === names.at(-1) && !clean ? minimumBytes : Number.POSITIVE_INFINITY;
    const endsDamaged = await checkLines(disk, directory, { name, tornFrom, checkLine }, findings);
    next = endsDamaged ? undefined : expected;
    const size = (await disk.sizeOf(`${directory}/${name}`)) ?? 0;
    if (segment === position.file && size < position.size)
      findings.damage(name, `it had ${position.size} bytes, the rest is missing`, size);
    if (segment === position.file && clean && size > position.size)
      findings.damage(name, 'more was written after the store was stopped', position.size);
    if (clean && segment !== position.file)
      findings.damage(name, 'it was written after the store was stopped');
  }
}
