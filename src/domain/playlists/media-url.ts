/** Maximum length of a media URL in characters, both as sent and in canonical form. */
export const maxMediaUrl = 2048;

/**
 * Parses an http or https URL. Does not use `URL.canParse`: in Node 20, its optimized code rejects
 * hosts such as `bücher.example`.
 */
function parsed(text: string): URL | undefined {
  try {
    return /^https?:/i.test(text) ? new URL(text) : undefined;
  } catch {
    return undefined;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are intended
const controls = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Returns the reason why a text is not a valid media URL, or `undefined` for a valid URL. Also
 * rejects control characters and outer white space, which the URL parser would silently drop.
 */
export function mediaUrlFault(text: string): string | undefined {
  if (controls.test(text)) return 'must not contain control characters';
  if (text.trim() !== text) return 'must not begin or end with white space';
  const url = parsed(text);
  if (!url) return 'must be an http or https URL';
  return url.username || url.password ? 'must not contain a user name or password' : undefined;
}

/**
 * Returns a media URL in the canonical form of the WHATWG URL parser. Other text is returned
 * unchanged.
 *
 * @example canonicalMediaUrl('https:\\Example.com/a b') // 'https://example.com/a%20b'
 */
export function canonicalMediaUrl(text: string): string {
  return parsed(text)?.href ?? text;
}

/** Returns the name of a file for people: the last part of the path of its URL, or its host. */
export function nameInMediaUrl({ pathname, host }: URL): string {
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(last) || host;
  } catch {
    return last;
  }
}
