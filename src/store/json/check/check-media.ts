import { createHash } from 'node:crypto';
import { mediaFilePath, mediaFolder } from '../../../domain/media/media-keys.ts';
import type { DumpSource } from '../../dump/dump.ts';
import { withFile } from '../disk/file-system.ts';
import type { PartContext } from '../disk/parts.ts';
import type { FolderFindings } from '../repair/finding.ts';

const chunkBytes = 256 * 1024;

/** Returns the SHA-256 of a file in hex. */
function digestOf({ disk }: PartContext, path: string): Promise<string> {
  return withFile(disk, path, 'read', async (file) => {
    const digest = createHash('sha256');
    const chunk = Buffer.alloc(chunkBytes);
    let position = 0;
    for (;;) {
      const length = await file.read(chunk, position);
      if (length === 0) return digest.digest('hex');
      digest.update(chunk.subarray(0, length));
      position += length;
    }
  });
}

/**
 * Reports media files that are missing or changed. They are no damage of the store: a repair does
 * not need them. Without a media folder, they lie elsewhere, or are still to be copied.
 */
export async function checkMediaFolder(
  context: PartContext,
  source: DumpSource,
  findings: FolderFindings,
): Promise<void> {
  const root = `${context.directory}/${mediaFolder}`;
  const hasFolder = (await context.disk.list(context.directory)).includes(mediaFolder);
  const seen = new Set<string>();
  for await (const { fileId, name, bytes } of source.read('media')) {
    if (seen.has(fileId)) continue;
    seen.add(fileId);
    if (!hasFolder) continue;
    const file = mediaFilePath(fileId);
    const size = await context.disk.sizeOf(`${root}/${file}`);
    const report = (what: string) =>
      findings.damage(`${mediaFolder}/${file}`, `the media file "${name}" ${what}`);
    if (size === undefined) report('is missing');
    else if (size !== bytes) report(`has ${size} bytes instead of ${bytes}`);
    else if ((await digestOf(context, `${root}/${file}`)) !== fileId) report('has changed');
  }
  if (!hasFolder && seen.size > 0)
    findings.note(
      mediaFolder,
      `the folder has no media folder: media files not checked: ${seen.size}`,
    );
}
