import { error, type MediaProblem, warning } from './finding.ts';
import type { Hop } from './follow-redirects.ts';
import { type MediaReply, prefixBytes, type Send } from './send.ts';

/** The first range of a file, as the value of the request header `Range`. */
export const firstRange = `bytes=0-${prefixBytes - 1}`;
/** Number of bytes that the check compares in a second range. */
const sampleBytes = 16;

interface ContentRange {
  start: number;
  end: number;
  /** Size of the file. `undefined`: the server does not know it. */
  total: number | undefined;
}

function parseContentRange(header: string | undefined): ContentRange | undefined {
  const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(header?.trim() ?? '') ?? [];
  if (start === undefined) return undefined;
  const range = {
    start: Number(start),
    end: Number(end),
    total: total === '*' ? undefined : Number(total),
  };
  const isValid = range.start <= range.end && range.end < (range.total ?? Number.POSITIVE_INFINITY);
  return isValid ? range : undefined;
}

/**
 * Returns the size of a file in bytes, or `undefined` if the response does not state it. The
 * response must not be compressed.
 */
export function fileSize({ status, headers, body, isWhole }: MediaReply): number | undefined {
  if (status === 206) return parseContentRange(headers['content-range'])?.total;
  if (isWhole) return body.length;
  const length = Number(headers['content-length']);
  return Number.isSafeInteger(length) ? length : undefined;
}

const wrongRange = (detail: string) =>
  error('ranges', {
    detail,
    effect: 'A TV that loads the file in parts gets a damaged file.',
    advice: 'Correct the range support of the server (RFC 9110 §14), or switch it off.',
  });

/** Checks whether a 206 has the bytes from `start`, and at most `length` of them. */
function rangeProblem(
  { headers, body, isWhole }: MediaReply,
  start: number,
  length: number,
): MediaProblem | undefined {
  const shown = headers['content-range'];
  const range = parseContentRange(shown);
  if (!range) {
    const what = shown === undefined ? 'no Content-Range' : `the Content-Range "${shown}"`;
    return wrongRange(`A response with status 206 has ${what}.`);
  }
  if (range.start !== start || range.end >= start + length)
    return wrongRange(
      `The response to bytes ${start} to ${start + length - 1} has the Content-Range "${shown}".`,
    );
  const announced = range.end - range.start + 1;
  if (isWhole && body.length === announced) return undefined;
  return wrongRange(
    `The Content-Range "${shown}" announces ${announced} bytes, but the server sent ${isWhole ? body.length : 'more'}.`,
  );
}

/** Returns the validator for `If-Range`: a strong ETag, or `Last-Modified` (RFC 9110 §13.1.5). */
function validatorOf({ headers }: MediaReply): string | undefined {
  const { etag } = headers;
  return etag !== undefined && /^"/.test(etag) ? etag : headers['last-modified'];
}

const ifRangeProblem = (detail: string, effect: string) =>
  warning('if-range', {
    detail,
    effect,
    advice: 'Correct the support of If-Range on the server or CDN (RFC 9110 §13.1.5).',
  });

/**
 * Checks `If-Range`: a download must continue if the file has not changed, and start again if it
 * has.
 */
async function validatorProblems(
  { url, origin, reply }: Hop,
  { offset, send }: { offset: number; send: Send },
): Promise<MediaProblem[]> {
  const validator = validatorOf(reply);
  const range = `bytes=${offset}-${offset + sampleBytes - 1}`;
  if (validator === undefined) {
    return [
      warning('validator', {
        detail: 'There is no strong ETag and no Last-Modified.',
        effect: 'An interrupted download starts again from the beginning.',
        advice: 'Make the server send one of them.',
      }),
    ];
  }
  const current = await send(url, { origin, range, 'if-range': validator });
  if (!current) return [];
  if (current.status !== 206) {
    const detail = `A range with the current validator in If-Range got status ${current.status}.`;
    return [ifRangeProblem(detail, 'An interrupted download starts again from the beginning.')];
  }
  const outdated = await send(url, { origin, range, 'if-range': '"outdated"' });
  if (outdated?.status !== 206) return [];
  return [
    ifRangeProblem(
      'A range with an outdated validator in If-Range got status 206.',
      'If the file changes during a download, a TV joins parts of two files.',
    ),
  ];
}

/** Checks the range of the first response. */
export function firstRangeProblem({ reply }: Hop): MediaProblem | undefined {
  return reply.status === 206 ? rangeProblem(reply, 0, prefixBytes) : undefined;
}

/**
 * Checks whether a large file can be loaded in parts. Compares a second range with the same bytes
 * of the first response.
 */
export async function largeFileProblems(hop: Hop, send: Send): Promise<MediaProblem[]> {
  const { url, origin, reply } = hop;
  if (reply.status !== 206) {
    return [
      warning('ranges', {
        detail: 'The server does not support ranges. It sent the whole file for a part.',
        effect: 'An interrupted download starts again, and videos cannot be continued or sought.',
        advice: 'Use a server or CDN with range support (RFC 9110 §14).',
      }),
    ];
  }
  const offset = Math.max(0, Math.floor(reply.body.length / 2) - sampleBytes);
  const expected = reply.body.subarray(offset, offset + sampleBytes);
  const range = `bytes=${offset}-${offset + expected.length - 1}`;
  const second = await send(url, { origin, range });
  if (!second) return [];
  if (second.status !== 206)
    return [wrongRange(`A second range got status ${second.status} instead of 206.`)];
  const wrong = rangeProblem(second, offset, expected.length);
  if (wrong) return [wrong];
  if (!second.body.equals(expected))
    return [wrongRange(`The bytes from ${offset} on differ between two ranges.`)];
  return validatorProblems(hop, { offset, send });
}
