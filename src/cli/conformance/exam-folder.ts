import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SignageError } from '../../domain/error.ts';
import { tryParseJson } from '../../domain/json/try-parse-json.ts';
import type { TvExamMemory } from '../../exam/options.ts';
import { partIds } from '../../exam/part-ids.ts';
import { readPrivateFile, replaceFile } from '../api/private-file.ts';
import { fileProblem } from '../options/file-error.ts';

const savedExamSchema = z.object({
  format: z.literal(1),
  quick: z.boolean(),
  finished: z.array(z.enum(partIds)),
  recording: z.looseObject({
    exchanges: z.array(z.looseObject({ number: z.number(), atMs: z.number(), endMs: z.number() })),
    marks: z.array(z.object({ name: z.string(), atMs: z.number() })),
    codes: z.array(z.tuple([z.string(), z.string().nullable()])),
    keys: z.array(z.string()),
  }),
});

/** The folder of `--state`: the data of the exam's service, and the recording so far. */
export interface ExamFolder {
  store: string;
  memory: TvExamMemory;
}

/** Opens the folder, and creates it if needed. Throws `invalid_file` if that fails. */
export async function openExamFolder(folder: string): Promise<ExamFolder> {
  const unusable = (error: unknown) =>
    new SignageError('invalid_file', `${fileProblem(error, folder, 'written')} (--state).`);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw unusable(error);
  });
  const path = join(folder, 'exam.json');
  return {
    store: join(folder, 'data'),
    memory: {
      async load() {
        const text = await readPrivateFile(path, 'invalid_file');
        if (text === undefined) return undefined;
        const saved = savedExamSchema.safeParse(tryParseJson(text));
        if (saved.success) return saved.data;
        throw new SignageError('invalid_file', `The saved exam ${path} is damaged (--state).`, {
          hint: `To start again, delete the folder ${folder}.`,
        });
      },
      async save(exam) {
        await replaceFile(path, `${JSON.stringify(exam)}\n`).catch((error: unknown) => {
          throw unusable(error);
        });
      },
    },
  };
}
