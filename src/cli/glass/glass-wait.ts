import type { ScreenStatus } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import type { CommandContext } from '../program/context.ts';
import { countText } from '../terminal/text.ts';
import { TvWait } from './tv-wait.ts';

/**
 * What is known of a screen. `given`: its TV has what is due, and does not report what it shows.
 * `idle`: nothing is due. `failed`: it shows what is beneath. `away`: it does not call. `none`:
 * there is no TV.
 */
type GlassState = 'shown' | 'given' | 'idle' | 'switching' | 'failed' | 'away' | 'none';

/** Default of `--wait` at a terminal. */
const defaultWaitMs = 60 * secondMs;
const pollMs = secondMs / 2;

/** Returns how long to wait for TVs, in milliseconds. `undefined`: not at all. */
export function waitMsOf(call: CommandContext): number | undefined {
  const { wait } = call.options;
  if (call.common.dryRun) return undefined;
  if (wait !== undefined) return wait || undefined;
  return call.io.stderr.isTTY ? defaultWaitMs : undefined;
}

function stateOf(status: ScreenStatus | undefined): GlassState {
  if (!status?.device) return 'none';
  const { layer, playlist, device, condition } = status;
  if (condition === 'idle') return 'idle';
  if (layer) return layer.state;
  if (layer === null) return 'away';
  // Services before this member say only what the TV has.
  return device.lastPlaylistVersion === playlist?.version ? 'given' : 'switching';
}

/** Counts the TVs that show what is due, that have it, and the screens with nothing to show. */
function describeShown(what: string, count: (state: GlassState) => number, total: number): string {
  const [shown, given, idle] = [count('shown'), count('given'), count('idle')];
  const sentences = [
    `${shown.toLocaleString('en')} of ${countText(total, 'TV')} ${shown === 1 ? 'shows' : 'show'} ${what}.`,
  ];
  if (given > 0)
    sentences.push(
      `${given.toLocaleString('en')} ${given === 1 ? 'has it, and does not report what it shows' : 'have it, and do not report what they show'}.`,
    );
  if (idle > 0) sentences.push(`${countText(idle, 'screen')} with nothing to show.`);
  return sentences.join(' ');
}

/**
 * Waits until the TVs of the screens say that they show what is due, if the command waits. Throws
 * `wait_timed_out` (exit code 8) if none says so in time, `partly_failed` (9) if only some do.
 */
export async function waitForGlass(
  call: CommandContext,
  screens: readonly {
    id: string;
    name: string;
    screen: { venueId: string; deviceId: string | null };
  }[],
  what: string,
): Promise<void> {
  const timeoutMs = waitMsOf(call);
  if (timeoutMs === undefined || screens.length === 0) return;
  const hasTv = screens.some(({ screen }) => screen.deviceId !== null);
  if (!hasTv && call.options.wait === undefined) return;
  const [venueId, ...others] = new Set(screens.map(({ screen }) => screen.venueId));
  const filters = others.length === 0 && venueId !== undefined ? { venueId } : {};
  const wait = new TvWait(call, {
    targets: screens,
    filters,
    what,
    does: `show ${what}`,
    pollMs,
    pages: (query) => call.pages('listScreenStatus', { query }),
    screenIdOf: ({ screen }: ScreenStatus) => screen.id,
    stateOf,
    reached: ['shown', 'given', 'idle'],
    missing: [
      ['away', 'offline or stopped'],
      ['switching', 'switching'],
      ['failed', 'showing what is beneath, because all of it fails'],
      ['none', 'without a TV'],
    ],
    describe: (count, total) => describeShown(what, count, total),
  });
  await wait.wait(timeoutMs);
  call.note(wait.summary());
}
