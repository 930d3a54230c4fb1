import type { FileFormat } from '../../media/examination/format.ts';
import { error, type MediaProblem, warning } from './finding.ts';
import type { MediaReply } from './send.ts';

/** The values of `creativeType`. */
export type CreativeType = 'image' | 'video' | 'html';

/** Values of `Content-Type` with which browsers show an item. */
export const shownTypes: Readonly<Record<CreativeType, RegExp>> = {
  image: /^image\/(?!hei[cf]|tiff)/,
  video: /^(?:video\/(?!mp2t|x-)|video\/x-m4v$|application\/(?:mp4|ogg)$)/,
  html: /^(?:text\/html|application\/xhtml\+xml)$/,
};
const svgType = 'image/svg+xml';

const examples: Readonly<Record<CreativeType, string>> = {
  image: 'image/png or image/jpeg',
  video: 'video/mp4',
  html: 'text/html',
};

const noType = ['', 'application/octet-stream', 'binary/octet-stream'];

/**
 * Checks the status. It must be 200, or 206 for a range. `isEmpty` handles 204. `hasRange`: the
 * request asked for a range.
 */
export function statusProblem({ status }: MediaReply, hasRange: boolean): MediaProblem | undefined {
  if (status === 206 && !hasRange)
    return error('status', {
      detail: 'The server answers with status 206, although the request has no Range.',
      effect: 'Browsers refuse such an answer.',
      advice: 'Correct the range support of the server (RFC 9110 §14.2), or switch it off.',
    });
  if ([200, 204, 206].includes(status)) return undefined;
  const isDenied = status === 401 || status === 403;
  const advice = isDenied
    ? 'TVs send no credentials. Make the file public, or use a signed URL with a long lifetime.'
    : 'Correct the URL, or repair the media server.';
  return error('status', {
    detail: `The server answers with status ${status}.`,
    effect: 'A TV gets no file.',
    advice,
  });
}

/** Whether the file has no bytes. A range of an empty file has status 416 (RFC 9110 §15.5.17). */
export function isEmpty({ status, headers, body, isWhole }: MediaReply): boolean {
  if (status === 416) return /^bytes \*\/0$/.test(headers['content-range'] ?? '');
  return status === 204 || ([200, 206].includes(status) && isWhole && body.length === 0);
}

export const emptyProblem = () =>
  error('empty', {
    detail: 'The file is empty.',
    effect: 'A TV shows nothing.',
    advice: 'Upload the file again.',
  });

/** Whether the body is compressed, so that its bytes say nothing about the file. */
export const isEncoded = ({ headers }: MediaReply) =>
  !['', 'identity'].includes(headers['content-encoding']?.toLowerCase() ?? '');

export const encodingProblem = ({ headers }: MediaReply) =>
  warning('encoding', {
    detail: `The server compresses the file (${headers['content-encoding']}), although the request has "Accept-Encoding: identity".`,
    effect: 'A TV can neither learn its size nor request ranges.',
    advice: 'Switch off compression for images and videos.',
  });

/** Checks whether the bytes are media of this `creativeType`. */
export function contentProblem(
  type: CreativeType,
  format: FileFormat | undefined,
): MediaProblem | undefined {
  if (format?.kind === type && format.flaw !== undefined)
    return error('content', {
      detail: `The file is ${format.name} with an error: ${format.flaw}.`,
      effect: 'The browser of a TV does not show it.',
      advice: 'Correct the file, or export it again.',
    });
  if (format ? format.kind === type : type === 'html') return undefined;
  const what = format?.name ?? 'in no known format';
  const isOther = format !== undefined && format.kind !== 'other';
  return error('content', {
    detail: `The item is of the type ${type}, but the file is ${what}.`,
    effect: isOther ? 'A TV cannot show it as that type.' : 'The browser of a TV does not show it.',
    advice: isOther
      ? 'Correct creativeType, or the URL. Login and error pages are HTML.'
      : (format?.advice ??
        'Convert the file: JPEG, PNG or WebP for images, MP4 or WebM for videos.'),
  });
}

/** Checks `Content-Type` against the `creativeType`. */
export function typeProblem(
  type: CreativeType,
  { headers }: MediaReply,
  format: FileFormat | undefined,
): MediaProblem | undefined {
  const sent = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const isSvg = format?.name === 'an SVG image';
  if (shownTypes[type].test(sent) && (!isSvg || sent === svgType)) return undefined;
  const shown = sent === '' ? 'There is no Content-Type' : `The Content-Type is ${sent}`;
  const isGuessable = noType.includes(sent) && type !== 'html' && !isSvg;
  const level = isGuessable ? warning : error;
  return level('type', {
    detail: `${shown}, and the item is of the type ${type}.`,
    effect: isGuessable
      ? 'Some TVs do not detect the type from the content.'
      : 'A TV does not show it as that type.',
    advice: `Make the server send ${isSvg ? svgType : `a type such as ${examples[type]}`}, or correct creativeType.`,
  });
}

/** Checks for a page that browsers would download instead of showing it. */
export function attachmentProblem({ headers }: MediaReply): MediaProblem | undefined {
  if (!/^\s*attachment/i.test(headers['content-disposition'] ?? '')) return undefined;
  return error('attachment', {
    detail: 'The header Content-Disposition makes the page a download.',
    effect: 'A TV shows an empty frame.',
    advice: 'Remove the header for this page.',
  });
}
