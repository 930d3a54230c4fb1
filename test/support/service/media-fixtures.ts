// Files of test/fixtures/media, made with sharp and ffmpeg.
import { readdirSync, readFileSync } from 'node:fs';
import { examine } from '../../../src/media/examination/examine.ts';
import { headBytes, type Verdict } from '../../../src/media/examination/verdict.ts';

const folder = new URL('../../fixtures/media/', import.meta.url);

/** Returns a file by its path, such as `pictures/baseline.jpg`. */
export const mediaFixture = (path: string): Buffer => readFileSync(new URL(path, folder));
export const namesIn = (kind: 'pictures' | 'videos'): string[] =>
  readdirSync(new URL(kind, folder)).map((name) => `${kind}/${name}`);

/** Examines a file as commands do, without a thread. Returns also what was read of it. */
export async function examined(file: Uint8Array): Promise<Verdict & { readBytes: number }> {
  let readBytes = 0;
  const read = async (start: number, end: number) => {
    readBytes += end - start;
    return file.slice(start, end);
  };
  const verdict = await examine({
    head: file.subarray(0, headBytes),
    isWhole: file.length <= headBytes,
    source: { size: file.length, read },
  });
  return { ...verdict, readBytes };
}

/** Returns the findings of a file, such as `error truncated`, or its refusal. */
export async function findingsOf(file: Uint8Array): Promise<string> {
  const { type, refusal, findings } = await examined(file);
  const names = findings.map(({ level, check }) => `${level} ${check}`);
  return type === undefined ? String(refusal) : names.join(', ');
}
