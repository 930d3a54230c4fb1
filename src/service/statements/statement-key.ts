import { SignageError } from '../../domain/error.ts';
import type { StatementLog } from '../../domain/statements/rows.ts';
import { type NoteSigner, readSigner } from '../../domain/statements/signed-note.ts';

/** What statements need to know of the service. */
export interface StatementOptions {
  /** Reads the file of the signing key, each time anew. `undefined`: statements are off. */
  readKey: (() => Promise<string>) | undefined;
  retentionDays: number;
}

const refusal = (detail: string, cause?: unknown) =>
  new SignageError('not_supported', detail, { cause });

/** Returns the key that signs for a tenant. Throws `not_supported` and says why none does. */
export async function signerOf(
  { readKey }: StatementOptions,
  { tenantId, name = '', keys }: Pick<StatementLog, 'tenantId'> & Partial<StatementLog>,
): Promise<NoteSigner> {
  if (!readKey) throw refusal('Statements are off: start the service with --statement-key-file.');
  const text = await readKey().catch((error) => {
    throw refusal(
      'The file with the statement key cannot be read: check --statement-key-file.',
      error,
    );
  });
  const signer = readSigner(text.trim(), `/${tenantId}${name && `/${name}`}`);
  if (!signer) throw refusal('The file of --statement-key-file has no statement key.');
  if (keys && keys.at(-1) !== signer.verifierKey)
    throw refusal(
      'The statement key is another one than before: use the former file, or start a new log with signage statement resume --new-log.',
    );
  return signer;
}
