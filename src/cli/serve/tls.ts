import { createSecureContext } from 'node:tls';
import { readSecretFile } from '../api/private-file.ts';
import { usage } from '../options/settings.ts';

/** Certificate and private key in PEM. */
export interface TlsTexts {
  cert: string;
  key: string;
}

/**
 * Reads certificate and key, if configured. Throws `usage` if one is missing or they do not match.
 */
export async function readTls(
  certFile: string | undefined,
  keyFile: string | undefined,
): Promise<TlsTexts | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw usage('--tls-cert and --tls-key need each other: give both, or neither.');
  const texts = {
    cert: await readSecretFile(certFile, 'The certificate file'),
    key: await readSecretFile(keyFile, 'The key file'),
  };
  try {
    createSecureContext(texts);
  } catch (error) {
    throw usage(
      `The certificate in ${certFile} and the key in ${keyFile} cannot be used: ${(error as Error).message}.`,
    );
  }
  return texts;
}
