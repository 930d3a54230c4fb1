import { z } from 'zod';

/** The first entry of a backup lists its files; the last has their checksums. */
export const backupHead = 'backup.json';
export const backupTail = 'checksums.json';

/** Current and only backup format. */
const backupFormat = 1;

/**
 * File names allowed in a backup. All others are rejected, such as paths that lead out of the
 * folder.
 */
const namePattern =
  /^(?:secret|manifest\.json|documents\/[a-zA-Z0-9._-]+\.json|(?:audit|events)\/[\d-]{10}\.ndjson|journal\/\d{16}-\d{6}\.log)$/;

export const headSchema = z.object({
  kind: z.literal('signage-backup'),
  format: z.number().int().min(1).max(backupFormat),
  at: z.iso.datetime(),
  files: z.array(
    z.object({ name: z.string().regex(namePattern), size: z.number().int().nonnegative() }),
  ),
});

export const tailSchema = z.object({ crc32: z.record(z.string(), z.string()) });
