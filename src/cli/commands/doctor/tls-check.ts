import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { type HttpProxy, openTunnel } from '../../../client/proxy-tunnel.ts';
import { dayMs } from '../../../domain/clock.ts';
import { isLoopback } from '../../connection/loopback.ts';
import { type DoctorFinding, fail, ok, warn } from './finding.ts';

const timeoutMs = 10_000;
const endsSoonDays = 21;
const trustIt = 'signage doctor --ca-file FILE';

interface Way {
  /** Certificates to trust (PEM), in place of Node's own. */
  ca: readonly string[] | undefined;
  proxy: HttpProxy | undefined;
}

/** Connects and accepts any certificate. Returns the socket, or the error code. */
async function tlsHandshake(url: URL, { ca, proxy }: Way): Promise<TLSSocket | { code: string }> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const name = isIP(host) ? {} : { servername: host };
  const port = Number(url.port || 443);
  const authority = `${url.hostname}:${port}`;
  const tunnel = proxy && (await openTunnel(proxy, authority, ca).catch(() => undefined));
  // The check of the service, which follows, reports why the proxy fails.
  if (proxy && !tunnel) return { code: 'proxy' };
  return new Promise((resolve) => {
    // Safe: the certificate is checked below, and no data is sent.
    const options = {
      ...(tunnel ? { socket: tunnel } : { host, port }),
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

/** Explains an invalid certificate by its Node.js error code. */
function certificateProblem(code: string, socket: TLSSocket, host: string): DoctorFinding {
  const { valid_from: from, valid_to: to, subjectaltname: names } = socket.getPeerCertificate();
  if (code.includes('SELF_SIGNED')) {
    return fail(
      'tls',
      'The certificate is self-signed and not trusted here. To trust it, name a certificate file with --ca-file.',
      trustIt,
    );
  }
  if (code === 'CERT_HAS_EXPIRED')
    return fail('tls', `The certificate expired on ${day(to)}. Renew it.`);
  if (code === 'CERT_NOT_YET_VALID')
    return fail(
      'tls',
      `The certificate is valid only from ${day(from)} on. Check the clock of this machine.`,
    );
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return fail(
      'tls',
      `The certificate is for ${names?.replaceAll(/\b(?:DNS|IP Address):/g, '') || 'another host'}, not for ${host}.`,
    );
  }
  return fail('tls', `The certificate authority is not trusted here (${code}).`, trustIt);
}

/** Checks the certificate of a service. Returns `undefined` if nothing answers. Sends no data. */
export async function checkTls(
  address: string,
  way: Way,
  nowMs: number,
): Promise<DoctorFinding | undefined> {
  const url = new URL(address);
  if (url.protocol === 'http:') {
    if (isLoopback(url.hostname)) return ok('tls', 'Not encrypted. This is safe on this machine.');
    return warn('tls', 'Not encrypted. Tokens and keys are readable on the network.');
  }
  const socket = await tlsHandshake(url, way);
  if ('code' in socket) {
    const isNoTls = /^(?:ERR_SSL|EPROTO)/.test(socket.code);
    return isNoTls
      ? fail(
          'tls',
          `The server does not use TLS (${socket.code}). Check whether the address must be http.`,
        )
      : undefined;
  }
  try {
    if (!socket.authorized)
      return certificateProblem(String(socket.authorizationError), socket, url.hostname);
    const { valid_to: to } = socket.getPeerCertificate();
    const leftDays = Math.floor((Date.parse(to) - nowMs) / dayMs);
    if (leftDays <= endsSoonDays)
      return warn('tls', `The certificate expires on ${day(to)}, in ${leftDays} d. Renew it.`);
    return ok('tls', `The certificate is trusted, and valid until ${day(to)}.`);
  } finally {
    socket.destroy();
  }
}
