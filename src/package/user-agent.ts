import { packageVersion } from './version.ts';

/** Returns the value of `User-Agent`. Some firewalls refuse requests without it. */
export const userAgent = (): string =>
  ['signage', packageVersion()].filter(Boolean).join('/').concat(' (+node)');
