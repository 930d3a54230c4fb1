import { placeOf } from '../audit/pages.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { headOf } from '../events/event-record.ts';
import { isDayFile, type LogFilesPosition, missingFiles } from '../log/day-files.ts';
import type { FoundFrame } from '../log/frame.ts';
import type { ManifestData } from '../manifest.ts';
import { checkLines } from './check-lines.ts';
import type { Findings } from './finding.ts';

const nothing: LogFilesPosition & { seq: number } = { file: null, size: 0, seq: 0 };

/** Says of undamaged lines, in their order, what is wrong with them. */
type Judge = (found: FoundFrame, afterGap: boolean) => string | undefined;

/** Batches count up without a gap over all files; retention takes the first ones. */
function judgeEvents(isWhole: boolean): Judge {
  let expected = isWhole ? 1 : undefined;
  let latest = 0;
  return ({ line }, afterGap) => {
    const head = headOf(line);
    if (!head) return 'this is no batch';
    const follows =
      expected === undefined || head.seq === expected || (afterGap && head.seq > expected);
    const wrong =
      follows && head.receivedAt >= latest ? undefined : `batch ${expected} must be here`;
    [expected, latest] = [head.seq + 1, head.receivedAt];
    return wrong;
  };
}

/** Entries name the journal's record and the place in it, and never step back. */
function judgeAudit(): Judge {
  let last = { seq: 0, n: 0 };
  return ({ line }) => {
    const place = placeOf(line);
    if (!place) return 'this is no entry';
    const steps = place.seq > last.seq || (place.seq === last.seq && place.n > last.n);
    last = place;
    return steps ? undefined : 'this entry is older than the one before';
  };
}

/** Reads all day files of a log, also those that no start reads, and checks them against its mark. */
export async function checkDays(
  disk: FileSystem,
  directory: string,
  folder: 'events' | 'audit',
  { clean, marks }: ManifestData,
  findings: Findings,
): Promise<void> {
  const mark = (marks[folder] as typeof nothing | undefined) ?? nothing;
  const { file, size, gone, files = {} } = mark;
  const there = (await disk.list(`${directory}/${folder}`)).filter(isDayFile).sort();
  const names = there.filter((name) => !(gone && file !== null && name <= file));
  const missing = missingFiles(files, names, clean);
  if (file !== null && !gone && !names.includes(file)) missing.push(file);
  for (const name of missing) findings.damage(`${folder}/${name}`, 'the file is missing');
  const judge = folder === 'events' ? judgeEvents(file === null) : judgeAudit();
  let afterGap = false;
  for (const day of names) {
    afterGap ||= missing.some((name) => name < day);
    const name = `${folder}/${day}`;
    const judgeHere: Judge = (found, afterBad) => {
      const wrong = judge(found, afterBad || afterGap);
      afterGap = false;
      return wrong;
    };
    const least = day === file ? size : (files[day] ?? 0);
    const tornFrom = day === names.at(-1) && !clean ? least : Number.POSITIVE_INFINITY;
    afterGap = await checkLines(disk, directory, { name, tornFrom, judge: judgeHere }, findings);
    const found = (await disk.sizeOf(`${directory}/${name}`)) ?? 0;
    if (found < least) findings.damage(name, `it had ${least} bytes, the rest is missing`, found);
    if (found > least && (files[day] !== undefined || (clean && day === file)))
      findings.damage(name, 'more was written after the store was stopped', least);
    if (clean && (file === null || day > file))
      findings.damage(name, 'it was written after the store was stopped');
    afterGap ||= found < least;
  }
}
