import * as option from '../input/option.ts';

/** Makes a command wait until the screens show what it has set. */
export const waitOption = option.optionalDuration(
  '--wait <time>',
  'wait until the TVs say that they show it, at most this long; 0: do not wait; default: 60s at a terminal, otherwise 0',
);
