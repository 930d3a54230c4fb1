import type { SignageError } from '../../../domain/error.ts';
import {
  countConditions,
  type NamedStatus,
  readFleetStatus,
  statusView,
} from '../../glass/fleet-status.ts';
import { usage } from '../../input/settings.ts';
import { listTable, lookOfState } from '../../output/table.ts';
import type { Column } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { exitCodeOf } from '../../program/exit-code.ts';
import { poll } from '../../records/wait.ts';
import { isForPeople } from '../../terminal/format.ts';
import {
  isWatched,
  type LiveLine,
  type LiveViewSize,
  line,
  openLiveView,
} from '../../terminal/live-view.ts';

const everyMs = 5000;
const endless = { timeoutMs: Number.POSITIVE_INFINITY, what: 'Ctrl-C' };
const unreachableExitCode = 7;
const defaultColumns = 80;

/** Lays the screens out as the lines of a table: the header, and one line per screen. */
async function tableLines(
  { io }: CommandContext,
  screens: readonly NamedStatus[],
): Promise<string[]> {
  const written: string[] = [];
  const writer = listTable({
    stdout: { isTTY: false, write: (text) => void written.push(`${text}`) },
    columns: statusView.columns.filter(({ wide }) => !wide) as readonly Column<unknown>[],
    fit: { lineWidth: (io.stderr.columns ?? defaultColumns) - 1 },
  });
  await writer.add(screens);
  return written.join('').split('\n').slice(0, -1);
}

/**
 * Redraws the status until Ctrl-C. Keeps the last one on screen while the service cannot be
 * reached.
 */
export async function watchStatus(
  call: CommandContext,
  options: Parameters<typeof readFleetStatus>[1],
): Promise<undefined> {
  if (!isWatched(call) || !isForPeople(call.common.output))
    throw usage(
      'A view that is redrawn needs a terminal. Use signage status, and run it repeatedly.',
    );
  let drawn: LiveLine[] = [line('Reading the status of all screens …')];
  let problem: string | undefined;

  const look = async () => {
    try {
      const screens = await readFleetStatus(call, options);
      const [header = '', ...rows] = await tableLines(call, screens);
      drawn = [
        line(`${countConditions(screens)}. Ctrl-C ends.`),
        line(header, 'strong'),
        ...rows.map((row, at) => line(row, lookOfState('condition', screens[at]?.condition ?? ''))),
      ];
      problem = undefined;
    } catch (error) {
      if (exitCodeOf(error) !== unreachableExitCode) throw error;
      problem = `${(error as SignageError).message} Trying again.`;
    }
  };
  const render = ({ rows }: LiveViewSize) => {
    const all = problem === undefined ? drawn : [line(problem, 'bad'), ...drawn];
    const room = rows - 1;
    if (all.length <= room) return all;
    return [...all.slice(0, room - 1), line(`… and ${all.length - room + 1} more screens`)];
  };

  const view = await openLiveView(call, render);
  try {
    return await poll<undefined>(call, { ...endless, everyMs }, async () => {
      await look();
      view.draw();
      return undefined;
    });
  } finally {
    view.close(drawn.slice(0, 1));
  }
}
