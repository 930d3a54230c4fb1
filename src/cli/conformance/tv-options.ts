import { partIds } from '../../exam/part-ids.ts';
import * as option from '../options/option.ts';
import type { Values } from '../options/settings.ts';
import { speed } from '../simulate/options.ts';

/** The options of `signage conformance --tv`. */
export const tvExamOptions = {
  tv: option.flag('--tv', 'examine a TV in place of a deployment'),
  listen: option.text(
    '--listen <host:port>',
    'with --tv: where the TV finds the service (default: 127.0.0.1:4200)',
  ),
  quick: option.flag('--quick', 'with --tv: the exam of 8 minutes; the full one takes 25'),
  part: option.repeated(
    '--part <name>',
    `with --tv: only this part after the registration: ${partIds.slice(1).join(', ')}`,
  ),
  state: option.text(
    '--state <folder>',
    'with --tv: keep the exam here; the same command later goes on after the last finished part',
  ),
  powerCmd: option.text(
    '--power-cmd <program>',
    'with --tv: a program that is run with "off" and "on" and switches the power of the TV',
  ),
  speed: speed(
    '--speed <factor>',
    'with --tv: the TV lives this much faster, such as signage tv --speed 20 (default: 1)',
  ),
};

export type TvExamFlags = Values<typeof tvExamOptions>;
