import * as option from '../options/option.ts';
import type { Setting } from '../options/settings.ts';

/** What a TV does after it gets its code, in this order. The last milestone completes the pairing. */
export const milestones = ['registered', 'playlist', 'event'] as const;
export type Milestone = (typeof milestones)[number];

const readTimeout = option.duration('15m', '--timeout <span>', 'give up after this long');
const timeout: Setting<number | undefined> = {
  ...readTimeout,
  initial: undefined,
  shown: '15m; none where a person can be asked',
};

/** What the commands that pair have in common; `reasonHelp` says what `--reason` is for. */
export const pairingOptions = (reasonHelp: string) => ({
  reason: option.text('--reason <text>', reasonHelp),
  waitFor: option.choice(
    milestones,
    '--wait-for <step>',
    'what the TV must have done in the end (default: event)',
  ),
  timeout,
  qr: option.flag('--qr', 'also show a QR code, for TV apps with a companion on the phone'),
});
