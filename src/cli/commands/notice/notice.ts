import { noticeTypes } from '../../../domain/notices/notice-types.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import { defineCommand } from '../../program/spec.ts';
import { followOptions, listOrFollow, readFollowOptions } from '../../records/list-or-follow.ts';
import { noticeView } from '../../records/views/history-views.ts';

const listNotices = defineCommand({
  summary: 'List or follow what the service tells about TVs, venues and playlists',
  description: `Newest first; with --follow or --after, oldest first. A TV that goes dark is told once, and once
when it is back. If half of the TVs of a venue go dark, it is one notice of the venue.

--follow prints new notices until Ctrl-C. It starts now, or at --since or --after.`,
  options: {
    type: option.choice(noticeTypes, '--type <type>', 'only notices of this type'),
    ...followOptions('notice', 'only notices after the notice with this id'),
  },
  examples: [
    ['signage notice list --since 1d', 'what happened since yesterday'],
    ['signage notice list --follow --type screen.dark', 'TVs that go dark, as it happens'],
    ['signage notice list --follow -o ndjson', 'for scripts: one JSON object per line'],
  ],
  list: true,
  async run(call) {
    const filters = { type: call.options.type };
    const range = readFollowOptions(call, 'a notice');
    await listOrFollow(call, 'listNotices', noticeView, { ...range, filters });
  },
});

export const notice = { list: listNotices };

function webUrl(text: string): URL {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text);
  throw usage(`--forward-to takes a URL such as http://localhost:3000/hook, not "${text}".`);
}

export const listen = defineCommand({
  summary: 'Pass notices on to a program or a URL',
  description: `Follows the notices, and runs a program for each, or sends it to a URL as a webhook does. Needs no
public address. Starts now, or where --state left off, and ends with Ctrl-C. What fails is tried
again, like a webhook; the notices after it wait.

The program gets the notice as JSON on stdin, and SIGNAGE_NOTICE_TYPE, _VENUE, _SCREEN, _REASON,
_ID and _AT in its environment, with control characters as \\u000a and at most 4,096 characters
each. Its exit code 0 says that the notice was handled.`,
  options: {
    type: option.repeated(
      '--type <type>',
      'only notices of this type, or group of types such as screen.*',
    ),
    forwardTo: option.text('--forward-to <url>', 'send each notice to this URL, signed'),
    exec: option.text(
      '--exec <command>',
      'run this program for each notice; by the shell, if it has a blank',
    ),
    state: option.text('--state <file>', 'keep the place and the secret in this file'),
  },
  examples: [
    ["signage listen --type 'screen.*' --exec ./mail.sh", 'mail what happens to TVs'],
    ['signage listen --forward-to http://localhost:3000/hook', 'to develop a receiver of webhooks'],
    ['signage listen --exec ./mail.sh --state listen.json', 'goes on where it stopped'],
  ],
  async run(call) {
    const { type: types, forwardTo, exec, state } = call.options;
    if ((forwardTo === undefined) === (exec === undefined))
      throw usage(
        'Give --exec COMMAND or --forward-to URL. To only read them: signage notice list --follow',
      );
    const url = forwardTo === undefined ? undefined : webUrl(forwardTo);
    const { listen: run } = await import('./listen.ts');
    await run(call, { types, forwardTo: url, exec, state });
  },
});
