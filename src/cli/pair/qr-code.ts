/** A QR code as lines of text. Each line holds two rows of dots; light dots are drawn as blocks. */
export interface QrCode {
  lines: readonly string[];
}

/** Returns the link for the phone companion of a TV app: the service address and the code. */
export function pairLink(url: string, code: string): string {
  return `signage://pair?url=${encodeURIComponent(url)}&code=${encodeURIComponent(code)}`;
}

/** Loads `uqr` on demand. Caches the last QR code. */
export async function loadQrCodes(): Promise<(text: string) => QrCode> {
  const { renderUnicodeCompact } = await import('uqr');
  let last: { text: string; qr: QrCode } | undefined;
  return (text) => {
    if (last?.text !== text)
      last = { text, qr: { lines: renderUnicodeCompact(text, { border: 2 }).split('\n') } };
    return last.qr;
  };
}
