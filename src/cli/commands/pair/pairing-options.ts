import * as option from '../../input/option.ts';
import type { Setting } from '../../input/settings.ts';

/** Milestones of a TV after it gets its code, in order. */
export const milestones = ['registered', 'playlist', 'event', 'playing'] as const;
export type Milestone = (typeof milestones)[number];
/** What a TV does at each milestone: `to register`, and when it has `registered`. */
export const milestoneTexts: Readonly<Record<Milestone, { awaited: string; done: string }>> = {
  registered: { awaited: 'register', done: 'registered' },
  playlist: { awaited: 'fetch its playlist', done: 'fetched its playlist' },
  event: { awaited: 'send its first event', done: 'sent its first event' },
  playing: { awaited: 'report that it plays', done: 'reported that it plays' },
};
export const defaultMilestone: Milestone = 'event';

/** Returns whether a TV at this milestone is reported as paired. */
export function isPaired(milestone: Milestone): boolean {
  return milestones.indexOf(milestone) >= milestones.indexOf(defaultMilestone);
}

const timeoutWithDefault = option.duration('15m', '--timeout <span>', 'stop after this time');
/** Default of `--timeout` without a terminal, in milliseconds. */
export const defaultTimeoutMs = timeoutWithDefault.initial;
const timeout: Setting<number | undefined> = {
  ...timeoutWithDefault,
  initial: undefined,
  shown: `${timeoutWithDefault.shown}; no limit at a terminal`,
};

/** Options of `signage pair` about the codes and the TV. */
export const pairingOptions = {
  waitFor: option.choice(
    milestones,
    '--wait-for <step>',
    `stop after this step of the TV (default: ${defaultMilestone})`,
  ),
  timeout,
  codesFile: option.text(
    '--codes-file <file>',
    'also keep the unused codes in this new file (CSV, mode 0600) until the command ends',
  ),
  noBell: option.flag('--no-bell', 'no sound when a TV is paired'),
  qr: option.flag(
    '--qr',
    'also show a QR code, for TV apps that work with a phone, and the address of the web player',
  ),
  qrWeb: option.flag(
    '--qr-web',
    'also show the address of the web player with the code, as a QR code for tablets',
  ),
  playerLinkFile: option.text(
    '--player-link-file <file>',
    'register for a web player that forgets its storage: write its link with the key into this new file (mode 0600)',
  ),
};
