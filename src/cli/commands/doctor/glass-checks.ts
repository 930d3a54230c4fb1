import type { Screen } from '../../../client/entities.ts';
import { badConditions, type Condition } from '../../../domain/conditions/condition.ts';
import type { ServiceReader } from '../../connection/client.ts';
import { type readScreenStatus, wrongYear } from '../../glass/fleet-status.ts';
import { dueText, playingText } from '../../glass/layer-texts.ts';
import { type DoctorFinding, fail, ok, warn } from './finding.ts';

export type ScreenStatus = Awaited<ReturnType<typeof readScreenStatus>>;

export interface ScreenContext {
  reader: ServiceReader;
  screen: Screen;
  /** Name or id of the screen, quoted as one word for a shell. */
  quotedName: string;
  nowMs: number;
  /** Formats a time, local at the venue, with its distance from now. */
  ago(time: string | number): string;
}

const glassLevels: Partial<Record<Condition, typeof ok>> = {
  ...Object.fromEntries(badConditions.map((condition) => [condition, fail])),
  playing: ok,
};

/** Says which layer is due, and whether it is on the screen. */
function checkLayer({ quotedName, ago }: ScreenContext, status: ScreenStatus): DoctorFinding[] {
  const { layer } = status;
  const due = dueText(status);
  if (!layer || due === null) return [];
  const explain = `signage explain ${quotedName}`;
  const when = layer.since === null ? '' : `, since ${ago(layer.since)}`;
  if (layer.state === 'shown') return [ok('layer', `It shows ${due}${when}.`)];
  // The check of the version says the rest of a playlist without layers above it.
  if (layer.entryId === null) return [];
  if (layer.state === 'given')
    return [ok('layer', `The TV has ${due}. It does not report what it shows.`)];
  if (layer.state === 'failed')
    return [
      warn('layer', `All of ${due} fails, so that it shows what is beneath${when}.`, explain),
    ];
  return [warn('layer', `It is switching to ${due}${when}.`, explain)];
}

/** Reports the judgement of the service, and its causes. */
export function checkGlass(context: ScreenContext, status: ScreenStatus): DoctorFinding[] {
  const { quotedName, nowMs, ago } = context;
  // The checks of the code and of former TVs say more.
  if (status.condition === 'unpaired') return [];
  const { condition, since, reason, errors, clock } = status;
  const level = glassLevels[condition] ?? warn;
  const look = `signage event list --screen ${quotedName}`;
  const what =
    reason?.text ?? `It plays ${playingText(status) ?? 'something of the layer before'}.`;
  const when = since === null ? '' : `, since ${ago(since)}`;
  return [
    level('glass', `The screen is ${condition}${when}. ${what}`, look),
    ...checkLayer(context, status),
    ...errors.map(({ name, creativeId, host, reason: code, since: first }) =>
      warn(
        'item',
        `${name ?? creativeId ?? 'An item'}${host === null ? '' : ` from ${host}`} fails with ${code}, since ${ago(first)}.`,
        `signage playlist check ${quotedName}`,
      ),
    ),
    ...checkSound(context, status),
    ...(clock
      ? [
          warn(
            'clock',
            `${clockFault(clock.offsetSeconds, nowMs)} Set it, or switch network time on.`,
            look,
          ),
        ]
      : []),
  ];
}

function checkSound({ ago }: ScreenContext, { muted }: ScreenStatus): DoctorFinding[] {
  if (!muted) return [];
  const what = `It plays without sound: its browser forbids it, since ${ago(muted.since)}.`;
  const advice =
    'Start Chromium with --autoplay-policy=no-user-gesture-required, or allow sound for the page in the settings of the browser. To play without sound, set player.sound=false.';
  return [warn('sound', `${what} ${advice}`)];
}

function clockFault(offsetSeconds: number, nowMs: number): string {
  const year = wrongYear(offsetSeconds, nowMs);
  if (year !== undefined) return `The clock of the TV says ${year}.`;
  return `The clock of the TV is ${Math.abs(offsetSeconds)} seconds ${offsetSeconds > 0 ? 'fast' : 'slow'}.`;
}
