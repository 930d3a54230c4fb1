import { readAt } from '../log/line-reader.ts';
import { type FileSystem, writeFully } from './file-system.ts';
import { replaceFile } from './replace-file.ts';

const chunkBytes = 1 << 20;

/** Copies a file atomically: a crash leaves no partial copy. The caller syncs the directory. */
export async function copyFile(disk: FileSystem, from: string, to: string): Promise<void> {
  const source = await disk.open(from, 'read');
  try {
    await replaceFile(disk, to, async (file) => {
      for (let position = 0; ; ) {
        const chunk = await readAt(source, position, chunkBytes);
        if (chunk.length === 0) return;
        await writeFully(file, chunk);
        position += chunk.length;
      }
    });
  } finally {
    await source.close();
  }
}
