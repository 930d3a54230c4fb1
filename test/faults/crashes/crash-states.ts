import { dirname } from 'node:path/posix';
import type { DiskStep, Files } from './recorded-disk.ts';

/** Possible contents of a disk after a crash. */
export interface CrashState {
  /** Number of steps begun. */
  step: number;
  what: string;
  /** Whether a log record is only partly written. */
  isTorn: boolean;
  files: Files;
}

export interface CrashStateOptions {
  /** Log records are torn at multiples of this many bytes. */
  tornEveryBytes: number;
  /**
   * Up to this many unsynced steps, all combinations of lost and kept ones are tried. With more,
   * some.
   */
  combined: number;
  /** Only states after these steps. Default: all. */
  from?: number;
}

/** A step that no sync covers yet. A crash may lose it. */
type Open = DiskStep & { do: 'write' | 'truncate' | 'create' | 'rename' | 'unlink' };

const isOfData = (step: DiskStep): step is Open & { file: number } =>
  step.do === 'write' || step.do === 'truncate';
const isLog = (path: string) =>
  /\/(journal|events|audit)\/[^/]+$/.test(path) && !path.endsWith('.tmp');

/** Synced contents of the disk, and its unsynced steps. */
class Certain {
  readonly #names: Map<string, number>;
  readonly #contents: Map<number, Buffer>;
  #open: Open[] = [];
  /** All names of each file by number, to recognize logs. */
  readonly paths = new Map<number, string>();

  constructor(start: Files) {
    const paths = [...start.keys()];
    this.#names = new Map(paths.map((path, number) => [path, number]));
    this.#contents = new Map([...start.values()].map((bytes, number) => [number, bytes]));
    for (const [number, path] of paths.entries()) this.paths.set(number, path);
  }

  get open(): readonly Open[] {
    return this.#open;
  }

  take(step: DiskStep): void {
    if (step.do === 'datasync') this.#settle((one) => isOfData(one) && one.file === step.file);
    else if (step.do === 'lose')
      this.#open = this.#open.filter((one) => !(isOfData(one) && one.file === step.file));
    else if (step.do === 'syncDirectory')
      this.#settle((one) => !isOfData(one) && 'path' in one && dirname(one.path) === step.path);
    else this.#open.push(step);
    if (step.do === 'create') this.paths.set(step.file, step.path);
    if (step.do === 'rename') this.paths.set(step.file, step.to);
  }

  #settle(isCovered: (step: Open) => boolean): void {
    this.#apply(this.#names, this.#contents, this.#open.filter(isCovered));
    this.#open = this.#open.filter((step) => !isCovered(step));
  }

  /** Returns the files with some of the unsynced steps applied. */
  with(done: readonly Open[]): Files {
    const [names, contents] = [new Map(this.#names), new Map(this.#contents)];
    this.#apply(names, contents, done);
    return new Map(
      [...names].map(([path, number]) => [path, contents.get(number) ?? Buffer.alloc(0)]),
    );
  }

  #apply(names: Map<string, number>, contents: Map<number, Buffer>, steps: readonly Open[]): void {
    for (const step of steps) {
      if (step.do === 'unlink') names.delete(step.path);
      else if (step.do === 'create') names.set(step.path, step.file);
      else if (step.do === 'rename') {
        names.delete(step.path);
        names.set(step.to, step.file);
      } else contents.set(step.file, applied(contents.get(step.file) ?? Buffer.alloc(0), step));
    }
  }
}

/** Applies a step. A lost earlier write reads as zeros. */
function applied(bytes: Buffer, step: Open & { do: 'write' | 'truncate' }): Buffer {
  if (step.do === 'truncate') return Buffer.concat([bytes.subarray(0, step.length)], step.length);
  const after = Buffer.alloc(Math.max(bytes.length, step.at + step.bytes.length));
  bytes.copy(after);
  step.bytes.copy(after, step.at);
  return after;
}

/**
 * Returns all combinations of a few steps. Of many: none, all, each prefix, all but one, each
 * alone.
 */
function* combinations<T>(of: readonly T[], most: number): Generator<readonly T[]> {
  if (of.length <= most) {
    for (let mask = 0; mask < 2 ** of.length; mask++)
      yield of.filter((_, index) => mask & (1 << index));
    return;
  }
  for (let count = 0; count <= of.length; count++) yield of.slice(0, count);
  for (const one of of) {
    yield [one];
    yield of.filter((other) => other !== one);
  }
}

/** Returns torn writes: a prefix, alone or padded with zeros to the full length. */
function* torn(step: Open & { do: 'write' }, everyBytes: number): Generator<Open> {
  const { length } = step.bytes;
  for (let kept = everyBytes; kept < length; kept += everyBytes) {
    yield { ...step, bytes: step.bytes.subarray(0, kept) };
    if (kept % (16 * everyBytes) === 0)
      yield { ...step, bytes: Buffer.concat([step.bytes.subarray(0, kept)], length) };
  }
}

/**
 * Returns every state that a crash may leave: after each step, with each combination of unsynced
 * steps, and each log record torn at each byte. States may repeat.
 */
export function* crashStates(
  start: Files,
  steps: readonly DiskStep[],
  options: CrashStateOptions,
): Generator<CrashState> {
  const { tornEveryBytes, combined, from = 0 } = options;
  const certain = new Certain(start);
  if (from === 0)
    yield { step: 0, what: 'nothing was done', isTorn: false, files: certain.with([]) };
  for (const [index, step] of steps.entries()) {
    certain.take(step);
    if (index + 1 < from) continue;
    const { open } = certain;
    const state = (what: string, done: readonly Open[], isTorn = false) => ({
      step: index + 1,
      what,
      isTorn,
      files: certain.with(done),
    });
    for (const done of combinations(open, combined))
      yield state(`after ${nameOf(step)}, ${done.length} of ${open.length} kept`, done);
    if (step.do !== 'write' || !isLog(certain.paths.get(step.file) ?? '')) continue;
    const others = open.filter((one) => one !== step);
    for (const part of torn(step, tornEveryBytes)) {
      const what = `torn ${nameOf(step)}`;
      yield state(what, [...others, part], true);
      if (others.length > 0) yield state(`${what}, alone`, [part], true);
    }
  }
}

/** Returns the readable files before the first step and after each step. */
export function* readableFiles(start: Files, steps: readonly DiskStep[]): Generator<Files> {
  const certain = new Certain(start);
  yield certain.with([]);
  for (const step of steps) {
    // Nothing is lost while the power is on.
    if (step.do !== 'lose') certain.take(step);
    yield certain.with(certain.open);
  }
}

function nameOf(step: DiskStep): string {
  return 'path' in step ? `${step.do} ${step.path}` : `${step.do} of file ${step.file}`;
}
