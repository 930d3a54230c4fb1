import { fileURLToPath } from 'node:url';
import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { makeFileObjectStore } from './file-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3Credentials } from './s3-client.ts';
import { readS3Location, type S3Location } from './s3-location.ts';

/** Settings that AWS tools read from the environment. */
export interface AwsSettings extends Partial<S3Credentials> {
  region?: string;
}

const invalidOption = (what: string) =>
  new SignageError('invalid_option', `The object store’s URL ${what}`);

function folderOf(text: string): string {
  try {
    return fileURLToPath(text);
  } catch (cause) {
    throw new SignageError(
      'invalid_option',
      'The object store’s URL must name a local folder: file:///var/lib/signage/mirror.',
      {
        cause,
      },
    );
  }
}

/**
 * Returns the bucket that `s3://bucket/prefix?…` names (see `readS3Location`), and how to sign for
 * it. Throws `invalid_option`.
 */
export function readBucket(
  text: string,
  { accessKeyId, secretAccessKey, sessionToken, region }: AwsSettings,
): { location: S3Location; credentials: S3Credentials } {
  const location = readS3Location(text, region);
  if (!accessKeyId || !secretAccessKey)
    throw invalidOption('needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  return {
    location,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
  };
}

/**
 * Opens `file:///folder` or `s3://bucket/prefix?…`. Sends no request. Throws `invalid_option`.
 */
export async function openObjectStore(
  text: string,
  aws: AwsSettings,
  clock: Clock,
): Promise<ObjectStore> {
  if (text.startsWith('file:')) return makeFileObjectStore(folderOf(text));
  if (!text.startsWith('s3:')) throw invalidOption('must begin with file: or s3:.');
  const { location, credentials } = readBucket(text, aws);
  // Imported on demand, because the modules for signing and undici are slow to load.
  const { makeS3ObjectStore } = await import('./s3-object-store.ts');
  return makeS3ObjectStore(location, credentials, clock);
}
