import { dayOf } from '../../../domain/records/report.ts';

const namePattern = /^\d{4}-\d{2}-\d{2}\.ndjson$/;

/** Returns the name of the file for the UTC day of a time. Times before 1970 use 1970-01-01. */
export function dayFile(timeMs: number): string {
  return `${dayOf(Math.max(0, timeMs))}.ndjson`;
}

/** Returns the start of a file's day in Unix milliseconds. */
export function dayStart(name: string): number {
  return Date.parse(name.slice(0, 10));
}

/**
 * Position of a log in the manifest. The log is valid up to `size` in `file`; all earlier files are
 * valid as a whole.
 */
export interface LogFilesPosition {
  /** `null`: the position is before the first file. */
  file: string | null;
  size: number;
  /** Number of the last record that ends at or before this position. */
  seq: number;
  /**
   * Present if `file` and all earlier files are past their retention. Any such files that still
   * exist are deleted at the next start.
   */
  gone?: true;
  /**
   * Sizes in bytes of the files before `file`, which no longer grow. Absent for the journal.
   */
  files?: Record<string, number>;
}

export function isDayFile(name: string): boolean {
  return namePattern.test(name);
}
