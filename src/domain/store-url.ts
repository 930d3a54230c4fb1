/** Returns whether a location is a PostgreSQL URL: `postgres://user@host:5432/database`. */
export function isDatabaseUrl(location: string): boolean {
  return /^postgres(ql)?:\/\//i.test(location);
}

/** Returns whether such a URL contains a password. */
export function hasPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password !== '';
}

/** Returns the URL without password and parameters, for people and logs. */
export function publicUrl(url: string): string {
  if (!URL.canParse(url)) return 'postgres://…';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
