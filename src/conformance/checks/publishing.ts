import { at, listAt, said, saidAll, saidAt, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { item, items } from '../content.ts';
import { schemaViolations } from '../schema-violations.ts';

/** How a playlist gets onto a screen (docs/protocol.md §5.4). */
export const publishingChecks: readonly Check[] = about(
  { id: 'publish', subject: 'PUT /v1/screens/:id/playlist', section: '5.4' },
  [
    profile(
      'members',
      '200 with the playlist; its validUntil is null when none was given',
      'all of them, and null',
      async (stage) => {
        const json = await stage.made('PUT', `/v1/screens/${await stage.screen()}/playlist`, {
          items,
        });
        const wrong = schemaViolations(json, {
          id: 'uuid',
          screenId: 'uuid',
          status: 'text',
          version: 'integer',
          items: 'array',
        });
        return at(json, 'validUntil') === null ? wrong : [...wrong, 'validUntil is not null'];
      },
    ),
    profile(
      'provisioning',
      'a screen without a TV takes one too; reading it answers the same',
      '200, 200',
      async (stage) => {
        const path = `/v1/screens/${await stage.screen()}/playlist`;
        return saidAll([
          await stage.manage('PUT', path, { items }),
          await stage.manage('GET', path),
        ]);
      },
    ),
    profile(
      '400',
      '400 for no items, another creativeType, a duration of 0, an address that is none',
      '400 /items, 400 /items/0/creativeType, 400 /items/0/duration, 400 /items/0/creativeUrl',
      async (stage) => {
        const path = `/v1/screens/${await stage.screen()}/playlist`;
        const wrong = [
          { items: [] },
          { items: [item({ creativeType: 'film' })] },
          { items: [item({ duration: 0 })] },
          { items: [item({ creativeUrl: 'ftp://x/y' })] },
        ];
        const answers: string[] = [];
        for (const body of wrong) {
          const { status: answered, json } = await stage.manage('PUT', path, body);
          answers.push(
            `${answered} ${listAt(json, 'errors')
              .map((error) => at(error, 'path'))
              .join(' ')}`,
          );
        }
        return answers.join(', ');
      },
    ),
    profile(
      'url',
      'a media URL is stored in the form of the WHATWG URL parser',
      'https://media.example.com/a%20b',
      async (stage) => {
        const body = { items: [item({ creativeUrl: 'HTTPS:Media.example.com\\a b' })] };
        const json = await stage.made('PUT', `/v1/screens/${await stage.screen()}/playlist`, body);
        return textAt(listAt(json, 'items')[0], 'creativeUrl');
      },
    ),
    profile(
      '400.url',
      '400 for a media URL with credentials, a control character or a blank before it',
      '400 invalid_request at /items/0/creativeUrl, three times',
      async (stage) => {
        const path = `/v1/screens/${await stage.screen()}/playlist`;
        const urls = [
          'https://tom:secret@media.example.com/',
          'https://media.example.com/a\tb',
          ' https://media.example.com/',
        ];
        const answers: string[] = [];
        for (const creativeUrl of urls)
          answers.push(saidAt(await stage.manage('PUT', path, { items: [item({ creativeUrl })] })));
        const [first = ''] = answers;
        return answers.every((answer) => answer === first)
          ? `${first}, three times`
          : answers.join(', ');
      },
    ),
    profile('past', '400 for a validUntil that is over', '400 invalid_request', async (stage) =>
      said(
        await stage.manage('PUT', `/v1/screens/${await stage.screen()}/playlist`, {
          items,
          validUntil: Math.floor(stage.clock.now() / 1000) - 60,
        }),
      ),
    ),
    profile(
      'history',
      'GET …/playlists lists the versions, newest first',
      '2, 1',
      async (stage) => {
        const screenId = await stage.screen();
        for (const body of [{ items }, { items: [item()] }])
          await stage.made('PUT', `/v1/screens/${screenId}/playlist`, body);
        const listed = await stage.made('GET', `/v1/screens/${screenId}/playlists`);
        return listAt(listed, 'items')
          .map((one) => String(at(one, 'version')))
          .join(', ');
      },
    ),
    profile(
      'large',
      'GET …/playlists has at most about 1 MiB on a page: versions of 700 KB have one each',
      '2; 1; no more',
      async (stage) => {
        const path = `/v1/screens/${await stage.screen()}/playlist`;
        for (const n of [1, 2])
          await stage.made('PUT', path, { items: [item({ n, text: 'x'.repeat(700_000) })] });
        const first = await stage.made('GET', `${path}s?limit=200`);
        const second = await stage.made(
          'GET',
          `${path}s?limit=200&cursor=${encodeURIComponent(textAt(first, 'nextCursor'))}`,
        );
        const shown = [first, second].map((page) =>
          listAt(page, 'items')
            .map((one) => String(at(one, 'version')))
            .join(', '),
        );
        return [...shown, at(second, 'nextCursor') === null ? 'no more' : 'more'].join('; ');
      },
    ),
    profile(
      'none',
      '404 playlist_not_found when none stands; withdrawing is 204 also then',
      '404 playlist_not_found, 204',
      async (stage) => {
        const path = `/v1/screens/${await stage.screen()}/playlist`;
        return saidAll([await stage.manage('GET', path), await stage.manage('DELETE', path)]);
      },
    ),
  ],
);
