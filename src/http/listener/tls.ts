import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { SignageError } from '../../domain/error.ts';

/** A certificate and its private key, as PEM texts. */
export interface Tls {
  cert: string;
  key: string;
}

/** Throws `invalid_option` for an invalid certificate, or a key that does not match it. */
export function checkTls(tls: Tls): Tls {
  try {
    createSecureContext(tls);
    // `createSecureContext` also accepts an empty key.
    if (!new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key)))
      throw new Error('the key belongs to another certificate');
    return tls;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new SignageError(
      'invalid_option',
      `The TLS certificate and key cannot be used (${why}). Give a PEM certificate and its private key.`,
      { cause },
    );
  }
}

/** Throws `invalid_option`. A service without TLS has no certificate to replace. */
export function refuseTls(): never {
  throw new SignageError(
    'invalid_option',
    'The service was started without TLS. There is no certificate to replace.',
  );
}
