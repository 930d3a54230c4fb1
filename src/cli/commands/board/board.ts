import { statusOptions } from '../../glass/status-options.ts';
import * as option from '../../input/option.ts';
import { defineCommand } from '../../program/spec.ts';

export const board = defineCommand({
  summary: 'Show a page with what is on each screen',
  description: `Serves a page on this machine and prints its address: a tile for each screen, with
its condition, what it plays or why not, and the command that looks deeper. The worst screens come
first. The page follows the service, which is asked every five seconds, once for all viewers. It can
change nothing, and the token never reaches the browser. The address has a random part: everybody on
this machine who knows it can see the page. Pictures and videos are loaded by the browser from where
they lie, without cookies.

The command ends with Ctrl-C, and an hour after its last viewer. While the service cannot be
reached, the page shows old data and says how old. Exit codes: 0 nobody looked for an hour, 3 no
screen matches, 4 the service refuses the token, 5 the port is taken, 7 the service could not be
reached at the start, 130 Ctrl-C.`,
  options: {
    venue: statusOptions.venue,
    selector: statusOptions.selector,
    port: option.wholeNumber([0, 65_535], 0, '--port <port>', 'port of 127.0.0.1; 0: any free one'),
    open: option.flag('--open', 'open the page in the browser'),
    noPreviews: option.flag('--no-previews', 'without pictures and videos'),
  },
  examples: [
    ['signage board --open', 'all screens, in the browser'],
    ['signage board --venue Lobby --port 4300', 'one venue, at a port of your choice'],
    [
      'ssh -t -L 4300:127.0.0.1:4300 server signage board --port 4300',
      'the board of another machine',
    ],
  ],
  async run(call) {
    return (await import('./run-board.ts')).runBoard(call, call.options);
  },
});
