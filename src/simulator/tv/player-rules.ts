import type { OptionRules } from '../../options/check-options.ts';
import {
  amount,
  callable,
  clockShape,
  object,
  text,
  whole,
  withFunctions,
} from '../../options/shapes.ts';
import type { PlayerOptions } from '../../player/options.ts';

export const playerRules: OptionRules<PlayerOptions> = {
  of: 'Player',
  shapes: {
    client: withFunctions('withKey', 'register', 'fetchPlaylist', 'postEvents'),
    deviceInfo: object,
    memory: withFunctions('load', 'save'),
    nextCode: callable,
    stage: withFunctions('show', 'clear'),
    observer: object,
    clock: clockShape,
    random: callable,
    speed: amount('a number', { infinite: true }),
    reportAfterSeconds: amount('a number of seconds', { min: 0 }),
    rotateEveryMs: amount('a number of milliseconds', { min: 0 }),
    reloadId: text,
    maxWaitSeconds: whole(50, 600),
    queueLimit: whole(1, 200_000),
  },
  required: ['client', 'deviceInfo'],
  secret: ['client', 'memory'],
};
