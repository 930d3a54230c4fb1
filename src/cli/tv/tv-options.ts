import * as option from '../options/option.ts';
import type { Values } from '../options/settings.ts';
import { behaviourOptions, connectionOptions } from '../options/shared.ts';
import { rotateEvery, span, speed } from '../simulate/options.ts';

const { url, context, caFile, insecureHttp } = connectionOptions;

/** What `signage tv` takes. */
export const tvOptions = {
  code: option.text(
    '--code <code>',
    'the pairing code, in any spelling (abcd-2345); - reads it from stdin',
  ),
  state: option.text(
    '--state <file>',
    'keep identity, key, playlist and unsent events in this file, for the owner alone',
  ),
  profile: option.text(
    '--profile <name>',
    'what the TV says of itself: a name of fixtures/devices; samsung-tizen unless given',
  ),
  manufacturer: option.text('--manufacturer <text>', 'in place of what the profile says'),
  model: option.text('--model <text>', 'likewise'),
  osVersion: option.text('--os-version <text>', 'likewise'),
  appVersion: option.text('--app-version <text>', 'likewise'),
  macAddress: option.text('--mac <address>', 'likewise'),
  ipAddress: option.text('--ip <address>', 'likewise'),
  deviceName: option.text('--device-name <text>', 'likewise'),
  locationHint: option.text('--location <text>', 'likewise'),
  speed: speed(
    '--speed <factor>',
    'seconds of the TV in one of ours: 60 is an hour a minute, max is no waiting; 1 unless given',
  ),
  duration: span('--duration <time>', 'stop after so long, such as 30s or 10m'),
  rotateEvery: rotateEvery(
    '--rotate-every <time>',
    "change the key so often, by the TV's clock, such as 12h or 7d; never unless given",
  ),
  once: option.flag('--once', 'fetch config and playlist, send a heartbeat, and end'),
  output: option.choice(
    ['ndjson'],
    '-o, --output <format>',
    'a JSON object for each thing that happens',
  ),
  ...behaviourOptions,
  ...{ url, context, caFile, insecureHttp },
};

/** What it was told. */
export type TvOptions = Values<typeof tvOptions>;
