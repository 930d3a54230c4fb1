import { systemCode } from '../../../client/transport.ts';
import { SignageError } from '../../../domain/error.ts';
import { error, type MediaProblem } from './finding.ts';

const notChecked = 'The item was not checked.';
const notLoaded = 'A TV cannot load the item.';

const dnsCodes = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'];
const connectCodes = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EACCES',
];

const isTls = (code: string) =>
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO|UNABLE_TO_)/.test(code) || code.includes('SELF_SIGNED');

const tlsDetails: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate of the host has expired.',
  CERT_NOT_YET_VALID: 'The certificate of the host is not valid yet.',
  CERT_REVOKED: 'The certificate of the host was revoked.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the host is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate authority of the host is not trusted here.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The host does not send its intermediate certificates.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate authority of the host is not trusted here.',
};

/** Returns the host names in a certificate for another host. Node attaches it to the error. */
function certificateNames(cause: unknown): string | undefined {
  const names = (cause as { cert?: { subjectaltname?: unknown } }).cert?.subjectaltname;
  return typeof names === 'string' ? names.replaceAll(/\b(?:DNS|IP Address):/g, '') : undefined;
}

function tlsProblem(code: string, cause: unknown, { host }: URL): MediaProblem {
  const effect = 'TVs refuse the connection.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return error('tls', {
      detail: `The certificate is for ${certificateNames(cause) ?? 'another host'}, not for ${host}.`,
      effect,
      advice: 'Use a host name of the certificate, or renew the certificate with this name.',
    });
  }
  if (/^(?:EPROTO|ERR_SSL_)/.test(code)) {
    return error('tls', {
      detail: `TLS with ${host} failed (${code}).`,
      effect,
      advice: 'Check whether the URL must begin with http, and which TLS versions the host offers.',
    });
  }
  return error('tls', {
    detail: tlsDetails[code] ?? `The certificate of the host cannot be verified (${code}).`,
    effect,
    advice: 'Install a valid certificate with its whole chain on the host.',
  });
}

/** Describes why a request failed, by the error code of Node. */
export function connectionProblem(cause: unknown, url: URL): MediaProblem {
  // The failure of a proxy already has its text.
  if (cause instanceof SignageError)
    return error('connect', {
      detail: cause.message,
      effect: notChecked,
      advice: cause.hint ?? '',
    });
  const code = systemCode(cause);
  if (dnsCodes.includes(code)) {
    return error('dns', {
      detail: `The host name ${url.hostname} cannot be resolved (${code}).`,
      effect: notLoaded,
      advice: 'Correct the host name in the URL, or its DNS entry.',
    });
  }
  if (connectCodes.includes(code)) {
    return error('connect', {
      detail: `Connecting to ${url.host} failed (${code}).`,
      effect: notLoaded,
      advice: 'Start the server, or correct host and port. Check its firewall.',
    });
  }
  if (isTls(code)) return tlsProblem(code, cause, url);
  const detail = /^HPE_/.test(code)
    ? `The server sent no valid HTTP (${code}).`
    : `The server closed the connection too early (${code}).`;
  return error('connection', {
    detail,
    effect: notLoaded,
    advice: 'Check the log of the media server, or of the proxy in front of it.',
  });
}
