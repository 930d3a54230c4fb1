import { positionOf } from '../audit/pages.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { headOf } from '../events/event-record.ts';
import { isDayFile, type LogFilesPosition, missingFiles } from '../log/day-files.ts';
import type { FoundFrame } from '../log/frame.ts';
import type { ManifestData } from '../manifest.ts';
import { checkLines } from './check-lines.ts';
import type { Findings } from './finding.ts';

const logStart: LogFilesPosition & { seq: number } = { file: null, size: 0, seq: 0 };

/** Checks an undamaged line in order. Returns what is wrong with it. */
type LineCheck = (found: FoundFrame, afterGap: boolean) => string | undefined;

/** Batches are numbered without gaps across all files. Retention deletes the first ones. */
function checkEvents(isWhole: boolean): LineCheck {
  let expected = isWhole ? 1 : undefined;
  let latest = 0;
  return ({ line }, afterGap) => {
    const head = headOf(line);
    if (!head) return 'this is not a batch';
    const follows =
      expected === undefined || head.seq === expected || (afterGap && head.seq > expected);
    const wrong =
      follows && head.receivedAt >= latest ? undefined : `batch ${expected} must be here`;
    expected = head.seq + 1;
    latest = head.receivedAt;
    return wrong;
  };
}

/** Entries have increasing positions: the journal record, and the index in it. */
function checkAudit(): LineCheck {
  let last = { seq: 0, n: 0 };
  return ({ line }) => {
    const entryPosition = positionOf(line);
    if (!entryPosition) return 'this is not an entry';
    const advances =
      entryPosition.seq > last.seq || (entryPosition.seq === last.seq && entryPosition.n > last.n);
    last = entryPosition;
    return advances ? undefined : 'this entry is older than the one before';
  };
}

/** Checks all day files of a log against its position, also those that no start reads. */
export async function checkDays(
  disk: FileSystem,
  directory: string,
  folder: 'events' | 'audit',
  { clean, marks }: ManifestData,
  findings: Findings,
): Promise<void> {
  const position = (marks[folder] as typeof logStart | undefined) ?? logStart;
  const { file, size, gone, files = {} } = position;
  const present = (await disk.list(`${directory}/${folder}`)).filter(isDayFile).sort();
  const names = present.filter((name) => !(gone && file !== null && name <= file));
  const missing = missingFiles(files, names, clean);
  if (file !== null && !gone && !names.includes(file)) missing.push(file);
  for (const name of missing) findings.damage(`${folder}/${name}`, 'the file is missing');
  const check = folder === 'events' ? checkEvents(file === null) : checkAudit();
  let afterGap = false;
  for (const day of names) {
    afterGap ||= missing.some((name) => name < day);
    const name = `${folder}/${day}`;
    const checkInFile: LineCheck = (found, afterBad) => {
      const wrong = check(found, afterBad || afterGap);
      afterGap = false;
      return wrong;
    };
    const minimumBytes = day === file ? size : (files[day] ?? 0);
    const tornFrom = day === names.at(-1) && !clean ? minimumBytes : Number.POSITIVE_INFINITY;
    afterGap = await checkLines(
      disk,
      directory,
      { name, tornFrom, checkLine: checkInFile },
      findings,
    );
    const found = (await disk.sizeOf(`${directory}/${name}`)) ?? 0;
    if (found < minimumBytes)
      findings.damage(name, `it had ${minimumBytes} bytes, the rest is missing`, found);
    if (found > minimumBytes && (files[day] !== undefined || (clean && day === file)))
      findings.damage(name, 'more was written after the store was stopped', minimumBytes);
    if (clean && (file === null || day > file))
      findings.damage(name, 'it was written after the store was stopped');
    afterGap ||= found < minimumBytes;
  }
}
