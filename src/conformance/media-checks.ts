import { createHash, randomUUID } from 'node:crypto';
import { type Answer, at, statusAndCode, textAt } from './fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile } from './fixture/check.ts';
import { item } from './fixture/content.ts';
import type { Fixture } from './fixture/fixture.ts';

/** Result of a check on a service without media, which is an optional part. */
const described = 'as described';

const idOf = (file: string) => createHash('sha256').update(file).digest('hex');
const newFile = () => `<svg xmlns="http://www.w3.org/2000/svg"><desc>${randomUUID()}</desc></svg>`;

const put = (fixture: Fixture, id: string, file: string) =>
  fixture.manage('PUT', `/v1/media/${id}`, undefined, { raw: file });

/** Sends a part that ends at `end`: by default, none of the file. */
const putPart = (fixture: Fixture, file: string, offset: number, end = offset) =>
  fixture.manage('PUT', `/v1/media/${idOf(file)}?offset=${offset}&size=${file.length}`, undefined, {
    raw: file.slice(offset, end),
  });

const isWithout = (answer: Answer) => statusAndCode(answer) === '501 not_supported';

/**
 * Uploads a new file, and passes it to `look`. Deletes it afterwards. Returns `described` on a
 * service without media.
 */
async function withFile(
  fixture: Fixture,
  look: (file: { id: string; url: string; text: string; answer: Answer }) => Promise<unknown>,
): Promise<unknown> {
  const text = newFile();
  const id = idOf(text);
  const answer = await put(fixture, id, text);
  if (isWithout(answer)) return described;
  if (answer.status !== 201) return answer;
  try {
    return await look({ id, url: textAt(answer.json, 'url'), text, answer });
  } finally {
    await fixture.manage('DELETE', `/v1/media/${id}?force=true`);
  }
}

const orDescribed = (seen: unknown, expected: unknown) =>
  JSON.stringify(seen) === JSON.stringify(expected) ? described : seen;

/** Checks of media (docs/protocol.md §5.14). A service without media passes with 501. */
export const mediaChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'media', subject: 'media', section: '5.14' },
  [
    profile('put', '201 with the file, 200 for the same again; or 501 not_supported').expects(
      described,
      (fixture) =>
        withFile(fixture, async ({ id, text, answer }) => {
          const again = await put(fixture, id, text);
          const members = ['id', 'type', 'bytes', 'url'].map((name) => at(answer.json, name));
          return orDescribed(
            [members, again.status],
            [[id, 'image/svg+xml', text.length, `/media/${id}.svg`], 200],
          );
        }),
    ),
    profile('refused', '400 for another digest and 415 for text; or 501 not_supported').expects(
      described,
      async (fixture) => {
        const text = `text ${randomUUID()}`;
        const answers = [
          await put(fixture, idOf(''), newFile()),
          await put(fixture, idOf(text), text),
        ];
        if (answers.every(isWithout)) return described;
        return orDescribed(answers.map(statusAndCode), [
          '400 digest_mismatch',
          '415 media_not_accepted',
        ]);
      },
    ),
    profile('parts.known', 'an empty part at the end of a file asks for it: 200').expects(
      described,
      (fixture) =>
        withFile(fixture, async ({ id, text }) => {
          const asked = await putPart(fixture, text, text.length);
          return orDescribed([asked.status, at(asked.json, 'id')], [200, id]);
        }),
    ),
    profile('parts.offset', '409 media_offset with received at another offset').expects(
      described,
      async (fixture) => {
        const text = newFile();
        const wrong = [
          await putPart(fixture, text, text.length),
          await putPart(fixture, text, 1, text.length),
        ];
        if (wrong.every(isWithout)) return described;
        const state = statusAndCode(await fixture.manage('GET', `/v1/media/${idOf(text)}/upload`));
        return orDescribed(
          [...wrong.map((one) => [statusAndCode(one), at(one.json, 'received')]), state],
          [['409 media_offset', 0], ['409 media_offset', 0], '404 media_not_found'],
        );
      },
    ),
    profile('file', 'its path needs no credential: 200, 206, 304, 416; 404 after DELETE').expects(
      described,
      (fixture) =>
        withFile(fixture, async ({ id, url }) => {
          const get = (headers: Record<string, string> = {}) =>
            fixture.send('GET', url, { headers });
          const whole = await get();
          const seen = [
            whole.status,
            whole.headers['content-type'],
            whole.headers['x-content-type-options'],
            whole.headers.etag,
            (await get({ range: 'bytes=0-3' })).text,
            (await get({ 'if-none-match': `"${id}"` })).status,
            (await get({ range: 'bytes=9999-' })).status,
          ];
          await fixture.manage('DELETE', `/v1/media/${id}`);
          seen.push((await get()).status);
          return orDescribed(seen, [
            200,
            'image/svg+xml',
            'nosniff',
            `"${id}"`,
            '<svg',
            304,
            416,
            404,
          ]);
        }),
    ),
    profile('playlist', 'a playlist keeps the path, TVs get a URL, and the file is in use').expects(
      described,
      (fixture) =>
        withFile(fixture, async ({ id, url }) => {
          const tv = await fixture.newTv();
          const path = `/v1/screens/${tv.screenId}/playlist`;
          const stored = await fixture.requireOk('PUT', path, {
            items: [item({ creativeUrl: url })],
          });
          const served = textAt((await tv.send('GET', 'playlist')).json, 'items.0.creativeUrl');
          const removed = statusAndCode(await fixture.manage('DELETE', `/v1/media/${id}`));
          const seen = [textAt(stored, 'items.0.creativeUrl'), removed];
          if (!/^https?:\/\//.test(served) || !served.endsWith(url)) return served;
          return orDescribed(seen, [url, '409 media_in_use']);
        }),
    ),
  ],
);
