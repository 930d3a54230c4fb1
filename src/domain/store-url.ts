/** Whether a store's location is a PostgreSQL database: `postgres://user@host:5432/database`. */
export function isDatabaseUrl(location: string): boolean {
  return /^postgres(ql)?:\/\//i.test(location);
}

/** Whether such a URL has a password in it. */
export function hasPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password !== '';
}

/** The URL without its password and parameters, for people and logs. */
export function publicUrl(url: string): string {
  if (!URL.canParse(url)) return 'postgres://…';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
