import { z } from 'zod';

/** The first entry of a backup says what it holds, the last one what it must sum up to. */
export const backupHead = 'backup.json';
export const backupTail = 'checksums.json';

/** The one format of backups that there is. */
const backupFormat = 1;

/** What a data folder may hold: no other name is taken from a backup, wherever it might lead. */
const nameForm =
  /^(?:secret|manifest\.json|documents\/[a-zA-Z0-9._-]+\.json|(?:audit|events)\/[\d-]{10}\.ndjson|journal\/\d{16}-\d{6}\.log)$/;

export const headSchema = z.object({
  kind: z.literal('signage-backup'),
  format: z.number().int().min(1).max(backupFormat),
  at: z.iso.datetime(),
  files: z.array(
    z.object({ name: z.string().regex(nameForm), size: z.number().int().nonnegative() }),
  ),
});

export const tailSchema = z.object({ crc32: z.record(z.string(), z.string()) });
