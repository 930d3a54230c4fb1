/**
 * Returns the form in which names are compared: without regard to case, and with a space for each
 * space separator, such as U+00A0.
 */
export function foldName(name: string): string {
  return name
    .normalize('NFC')
    .replaceAll(/\p{Zs}/gu, ' ')
    .trim()
    .toLowerCase();
}
