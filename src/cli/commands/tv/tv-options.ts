import * as option from '../../input/option.ts';
import type { Values } from '../../input/settings.ts';
import { behaviourOptions, connectionOptions } from '../../input/shared.ts';
import { maxWait, rotateEvery, speed } from '../../input/simulation-options.ts';

const { url, context, caFile, insecureHttp } = connectionOptions;

export const tvOptions = {
  code: option.text(
    '--code <code>',
    'the pairing code, such as ABCD2345 or abcd-2345; - reads it, or the link of a ticket, from stdin',
  ),
  claim: option.flag('--claim', 'show a claim, and wait until signage pair --tv offers a screen'),
  yes: option.flag('--yes', 'with --claim: accept the offered screen without asking'),
  state: option.text(
    '--state <file>',
    'keep identity, key, playlist and unsent events in this file, readable only by you',
  ),
  profile: option.text(
    '--profile <name>',
    'device info from fixtures/devices (default: samsung-tizen)',
  ),
  manufacturer: option.text('--manufacturer <text>', 'override the profile'),
  model: option.text('--model <text>', 'override the profile'),
  osVersion: option.text('--os-version <text>', 'override the profile'),
  appVersion: option.text('--app-version <text>', 'override the profile'),
  macAddress: option.text('--mac <address>', 'override the profile'),
  ipAddress: option.text('--ip <address>', 'override the profile'),
  deviceName: option.text('--device-name <text>', 'override the profile'),
  locationHint: option.text('--location <text>', 'override the profile'),
  serial: option.text('--serial <text>', 'serial number, which a screen may expect'),
  speed: speed(
    '--speed <factor>',
    'run faster: 60 is one hour per minute, max never waits (default: 1)',
  ),
  duration: option.optionalDuration(
    '--duration <time>',
    'stop after this time, such as 30s or 10m',
  ),
  rotateEvery: rotateEvery(
    '--rotate-every <time>',
    'rotate the key at this interval of TV time, such as 12h or 7d (default: never)',
  ),
  maxWait: maxWait(
    '--max-wait <time>',
    'wait for changes at most this long, from 50s to 10m (default: 2m)',
  ),
  once: option.flag('--once', 'fetch config and playlist, send a heartbeat, and stop'),
  output: option.choice(
    ['ndjson'],
    '-o, --output <format>',
    'print a JSON object for each log entry',
  ),
  ...behaviourOptions,
  url,
  context,
  caFile,
  insecureHttp,
};

export type TvOptions = Values<typeof tvOptions>;
