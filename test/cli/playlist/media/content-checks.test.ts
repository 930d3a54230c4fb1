import { describe, expect, it } from 'vitest';
import {
  type CreativeType,
  contentProblem,
  statusProblem,
  typeProblem,
} from '../../../../src/cli/examination/content-checks.ts';
import { examine } from '../../../../src/media/examination/examine.ts';
import { files } from './media-site.ts';

const reply = (status: number, headers: Record<string, string> = {}) => {
  return { status, headers, body: Buffer.alloc(0), isWhole: true };
};
const formatOf = async (head: Buffer) => (await examine({ head, isWhole: false })).format;
const soup = Buffer.from('soup');

describe('contentProblem', () => {
  it.each<[CreativeType, Buffer, RegExp | undefined]>([
    ['image', files.png.start, undefined],
    ['html', files.html.start, undefined],
    ['html', soup, undefined],
    ['image', files.html.start, /of the type image, but the file is an HTML page\. .*creativeType/],
    ['image', files.mp4.start, /but the file is an MP4 video/],
    ['html', files.png.start, /of the type html, but the file is a PNG image/],
    ['image', files.heic.start, /a HEIC image.*Convert it to JPEG/],
    ['video', files.hls.start, /an HLS playlist.*Convert the file/],
    ['image', soup, /in no known format.*Convert the file/],
  ])('of the type %s for %j: %s', async (type, bytes, said) => {
    const problem = contentProblem(type, await formatOf(bytes));
    if (!said) return expect(problem).toBeUndefined();
    expect(problem).toMatchObject({ level: 'error', check: 'content' });
    expect(`${problem?.detail} ${problem?.effect} ${problem?.advice}`).toMatch(said);
  });
});

describe('typeProblem', () => {
  it.each<[CreativeType, Buffer, string, 'error' | 'warning' | undefined]>([
    ['image', files.png.start, 'image/png', undefined],
    ['image', files.jpeg.start, 'image/png', undefined],
    ['image', files.png.start, 'IMAGE/PNG; q=1', undefined],
    ['image', files.svg.start, 'image/svg+xml', undefined],
    ['video', files.mp4.start, 'video/mp4', undefined],
    ['html', files.html.start, 'text/html; charset=utf-8', undefined],
    ['image', files.png.start, 'application/octet-stream', 'warning'],
    ['image', files.png.start, '', 'warning'],
    ['image', files.png.start, 'text/html', 'error'],
    ['image', files.heic.start, 'image/heic', 'error'],
    ['image', files.svg.start, 'text/xml', 'error'],
    ['image', files.svg.start, 'image/png', 'error'],
    ['html', files.html.start, 'text/plain', 'error'],
    ['html', files.html.start, 'application/octet-stream', 'error'],
  ])('of the type %s for %j with the Content-Type "%s": %s', async (type, bytes, sent, level) => {
    const problem = typeProblem(type, reply(200, { 'content-type': sent }), await formatOf(bytes));
    expect(problem?.level).toBe(level);
    if (level && sent) expect(problem?.detail).toContain(`The Content-Type is ${sent}`);
    if (level && bytes === files.svg.start) expect(problem?.advice).toContain('image/svg+xml');
  });
});

describe('statusProblem', () => {
  it.each([200, 204, 206])('accepts %i', (status) => {
    expect(statusProblem(reply(status), true)).toBeUndefined();
  });

  it.each([
    [401, 'TVs send no credentials'],
    [403, 'TVs send no credentials'],
    [404, 'Correct the URL'],
    [503, 'Correct the URL'],
  ])('advises for %i: %s', (status, advice) => {
    expect(statusProblem(reply(status), true)).toMatchObject({
      level: 'error',
      detail: `The server answers with status ${status}.`,
      advice: expect.stringContaining(advice),
    });
  });
});
