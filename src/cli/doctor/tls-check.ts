import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { dayMs } from '../../domain/clock.ts';
import { isLoopback } from '../api/loopback.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const timeoutMs = 10_000;
const endsSoonDays = 21;
const trustIt = 'signage doctor --ca-file FILE';

/** The handshake's socket, whatever the certificate; the code of the error when there is none. */
function tlsHandshake(
  url: URL,
  ca: readonly string[] | undefined,
): Promise<TLSSocket | { code: string }> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const name = isIP(host) ? {} : { servername: host };
  return new Promise((resolve) => {
    // The certificate is judged below, and nothing is sent.
    const options = {
      host,
      port: Number(url.port || 443),
      ...name,
      ...(ca && { ca: [...ca] }),
      rejectUnauthorized: false,
      timeout: timeoutMs,
    };
    const socket = connect(options, () => resolve(socket));
    socket.on('timeout', () => socket.destroy());
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve({ code }));
    socket.on('close', () => resolve({ code: 'closed' }));
  });
}

const day = (text: string) => new Date(text).toISOString().slice(0, 10);

/** What is wrong with a certificate, by the code that Node has for it. */
function certificateProblem(code: string, socket: TLSSocket, host: string): Finding {
  const { valid_from: from, valid_to: to, subjectaltname: names } = socket.getPeerCertificate();
  if (code.includes('SELF_SIGNED')) {
    return fail(
      'tls',
      'The certificate is self-signed, and is not trusted here: --ca-file names a file of certificates to trust.',
      trustIt,
    );
  }
  if (code === 'CERT_HAS_EXPIRED')
    return fail('tls', `The certificate has expired on ${day(to)}: the service needs a new one.`);
  if (code === 'CERT_NOT_YET_VALID')
    return fail(
      'tls',
      `The certificate is valid from ${day(from)} on: is the clock of this machine right?`,
    );
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return fail(
      'tls',
      `The certificate is for ${names?.replaceAll(/\b(?:DNS|IP Address):/g, '') || 'another host'}, not for ${host}.`,
    );
  }
  return fail(
    'tls',
    `The certificate is not from an authority that is trusted here (${code}).`,
    trustIt,
  );
}

/** Looks at the certificate of a service; `undefined` when nothing can be said of it, as nobody answers. Sends nothing. */
export async function checkTls(
  address: string,
  ca: readonly string[] | undefined,
  nowMs: number,
): Promise<Finding | undefined> {
  const url = new URL(address);
  if (url.protocol === 'http:') {
    if (isLoopback(url.hostname))
      return ok('tls', 'Not encrypted, and on this machine it need not be.');
    return warn('tls', 'Not encrypted: tokens and keys cross the network in clear.');
  }
  const socket = await tlsHandshake(url, ca);
  if ('code' in socket) {
    const isNoTls = /^(?:ERR_SSL|EPROTO)/.test(socket.code);
    return isNoTls
      ? fail('tls', `What listens there does not speak TLS (${socket.code}): is it http?`)
      : undefined;
  }
  try {
    if (!socket.authorized)
      return certificateProblem(String(socket.authorizationError), socket, url.hostname);
    const { valid_to: to } = socket.getPeerCertificate();
    const leftDays = Math.floor((Date.parse(to) - nowMs) / dayMs);
    if (leftDays <= endsSoonDays)
      return warn('tls', `The certificate expires on ${day(to)}, in ${leftDays} d: renew it.`);
    return ok('tls', `The certificate is trusted, and valid until ${day(to)}.`);
  } finally {
    socket.destroy();
  }
}
