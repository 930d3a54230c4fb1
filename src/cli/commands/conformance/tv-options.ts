import { partIds } from '../../../exam/parts/part-ids.ts';
import { listenOption } from '../../input/listen-option.ts';
import * as option from '../../input/option.ts';
import type { Flags } from '../../input/settings.ts';
import { usage, type Values } from '../../input/settings.ts';
import { speed } from '../../input/simulation-options.ts';

/** The options of `signage conformance --tv`. */
export const tvExamOptions = {
  tv: option.flag('--tv', 'examine a TV instead of a deployment'),
  listen: listenOption('with --tv: where the TV finds the service'),
  quick: option.flag(
    '--quick',
    'with --tv: the exam of about 7 minutes; the full one takes about 17',
  ),
  part: option.repeated(
    '--part <name>',
    `with --tv: only this part after the registration: ${partIds.slice(1).join(', ')}`,
  ),
  state: option.text(
    '--state <folder>',
    'with --tv: save the exam in this folder; the same command continues after the last finished part',
  ),
  powerCmd: option.text(
    '--power-cmd <program>',
    'with --tv: program that switches the power of the TV; called with "off" and "on"',
  ),
  maxMinutes: option.count(
    [1, 600],
    '--max-minutes <minutes>',
    'with --tv: end the exam after this time; it is then not passed (default: 12, full exam 24, and 3 more with power cuts)',
  ),
  speed: speed(
    '--speed <factor>',
    'with --tv: speed of a simulated TV, as given to signage tv --speed (default: 1)',
  ),
};

export type TvExamFlags = Values<typeof tvExamOptions>;

/** Flags for deployments only, by their names in commander. */
const deploymentFlags = {
  url: '--url',
  tokenFile: '--token-file',
  tenant: '--tenant',
  only: '--only',
  row: '--row',
  slow: '--slow',
  withGuessing: '--with-guessing',
  withTenants: '--with-tenants',
};

/** Throws `usage` for an option that conflicts with `--tv`, or that needs it. */
export function checkTvFlags(flags: Flags): void {
  const isGiven = (name: string) => flags[name] !== undefined;
  const other = Object.entries(deploymentFlags).find(([name]) => isGiven(name));
  if (flags.tv && other) throw usage(`${other[1]} does not work with --tv.`);
  const own = Object.entries(tvExamOptions).find(([name]) => isGiven(name));
  if (!flags.tv && own) throw usage(`${own[1].flags.split(' ')[0]} works only with --tv.`);
}
