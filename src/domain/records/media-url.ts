/** The longest media URL, in characters, as it is sent and as it is stored. */
export const maxMediaUrl = 2048;

/** An http or https URL. Not `URL.canParse`: once Node 20 has compiled a call of it, it says no to a host such as `bücher.example`. */
function parsed(text: string): URL | undefined {
  try {
    return /^https?:/i.test(text) ? new URL(text) : undefined;
  } catch {
    return undefined;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a text cannot be the URL of a media file; `undefined` when it can. The URL parser would drop control characters and outer blanks silently. */
export function mediaUrlFault(text: string): string | undefined {
  if (controls.test(text)) return 'must not contain control characters';
  if (text.trim() !== text) return 'must not begin or end with white space';
  const url = parsed(text);
  if (!url) return 'must be an http or https URL';
  return url.username || url.password ? 'must not contain a user name or password' : undefined;
}

/**
 * A media URL in the form that the WHATWG URL parser produces. Two URLs of one form are the same. Any other text comes back unchanged.
 *
 * @example canonicalMediaUrl('https:\\Example.com/a b') // 'https://example.com/a%20b'
 */
export function canonicalMediaUrl(text: string): string {
  return parsed(text)?.href ?? text;
}
