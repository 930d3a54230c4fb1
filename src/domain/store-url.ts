/** Returns whether a location is a PostgreSQL URL: `postgres://user@host:5432/database`. */
export function isDatabaseUrl(location: string): boolean {
  return /^postgres(ql)?:\/\//i.test(location);
}

/** Returns whether a PostgreSQL URL contains a password. */
export function hasPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password !== '';
}

/** Returns the URL without password and parameters, so that it can be displayed and logged. */
export function publicUrl(url: string): string {
  if (!URL.canParse(url)) return 'postgres://…';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
