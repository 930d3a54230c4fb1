import { isIPv4 } from 'node:net';

/** Whether a host of a URL or of `--host` is a loopback address or a loopback name. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return (
    bare === 'localhost' ||
    bare.endsWith('.localhost') ||
    bare === '::1' ||
    (isIPv4(bare) && bare.startsWith('127.'))
  );
}
