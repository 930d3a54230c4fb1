import { escapeControl } from '../terminal/escape.ts';

/** Escapes a text for HTML, also in attributes. */
const escapeHtml = (text: string): string =>
  escapeControl(text).replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

/** Escapes a text of anybody, which may be written from right to left. */
export const htmlText = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`;

/**
 * Returns a page without scripts and without anything to load. `title` is escaped here, `body` by
 * the caller.
 */
export const htmlPage = (title: string, style: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
