/** A QR code as text: two rows of its dots a line, the light ones as blocks. */
export interface QrCode {
  lines: readonly string[];
}

/** What TV apps with a companion on the phone read: where the service is, and the code. */
export function pairLink(url: string, code: string): string {
  return `signage://pair?url=${encodeURIComponent(url)}&code=${encodeURIComponent(code)}`;
}

/** Makes QR codes, the same one again for the same text; `uqr` is loaded for it. */
export async function loadQrCodes(): Promise<(text: string) => QrCode> {
  const { renderUnicodeCompact } = await import('uqr');
  let last: { text: string; qr: QrCode } | undefined;
  return (text) => {
    if (last?.text !== text)
      last = { text, qr: { lines: renderUnicodeCompact(text, { border: 2 }).split('\n') } };
    return last.qr;
  };
}
