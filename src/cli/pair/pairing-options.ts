import * as option from '../options/option.ts';
import type { Setting } from '../options/settings.ts';
import { stages } from './stages.ts';

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
    stages,
    '--wait-for <step>',
    'what the TV must have done in the end (default: event)',
  ),
  timeout,
  qr: option.flag('--qr', 'also show a QR code, for TV apps with a companion on the phone'),
});
