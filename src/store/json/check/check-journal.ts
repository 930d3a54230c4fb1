import type { FileSystem } from '../disk/file-system.ts';
import { type LogPosition, recordHead, segmentsFrom } from '../journal/segments.ts';
import type { FoundFrame } from '../log/frame.ts';
import type { ManifestData } from '../manifest.ts';
import { checkLines } from './check-lines.ts';
import type { Findings } from './finding.ts';

const nothing: LogPosition = { file: null, size: 0, seq: 0, at: 0 };

/** Checks the segments that a start reads, as `SegmentReader` does, and goes on after damage. */
export async function checkJournal(
  disk: FileSystem,
  directory: string,
  manifest: ManifestData,
  findings: Findings,
): Promise<void> {
  const mark = (manifest.marks.journal as LogPosition | undefined) ?? nothing;
  const names = await segmentsFrom(disk, `${directory}/journal`, mark.file);
  const { clean } = manifest;
  if (mark.file !== null && names[0] !== mark.file)
    findings.damage(`journal/${mark.file}`, 'the file is missing');
  let next = mark.file === null ? mark.seq + 1 : undefined;
  for (const segment of names) {
    const name = `journal/${segment}`;
    const first = Number.parseInt(segment, 10);
    if (next !== undefined && first !== next)
      findings.damage(name, `it begins with record ${first} where record ${next} must follow`, 0);
    let expected = first;
    const judge = ({ line, offset, length }: FoundFrame, afterGap: boolean) => {
      const { seq } = recordHead(line) ?? {};
      if (seq === undefined) return 'this is no record of the journal';
      const wrong =
        seq === expected || (afterGap && seq > expected)
          ? undefined
          : `record ${expected} must be here`;
      expected = seq + 1;
      if (!wrong && seq === mark.seq && offset + length !== mark.size)
        return `record ${seq} does not end where the manifest says`;
      return wrong;
    };
    const marked = segment === mark.file ? mark.size : 0;
    const tornFrom = segment === names.at(-1) && !clean ? marked : Number.POSITIVE_INFINITY;
    const endsDamaged = await checkLines(disk, directory, { name, tornFrom, judge }, findings);
    next = endsDamaged ? undefined : expected;
    const size = (await disk.sizeOf(`${directory}/${name}`)) ?? 0;
    if (segment === mark.file && size < mark.size)
      findings.damage(name, `it had ${mark.size} bytes, the rest is missing`, size);
    if (segment === mark.file && clean && size > mark.size)
      findings.damage(name, 'more was written after the store was stopped', mark.size);
    if (clean && segment !== mark.file)
      findings.damage(name, 'it was written after the store was stopped');
  }
}
