import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';

/** Options of a publication in stages. */
export const stagedOptions = {
  staged: option.text(
    '--staged <percentages>',
    'publish in stages, on a growing part of the screens, such as 5%,25%,100%; needs --state',
  ),
  hold: option.duration(
    '10m',
    '--hold <time>',
    'with --staged: wait after each stage, and then check the limits',
  ),
  stopOn: option.text(
    '--stop-on <limits>',
    "with --staged: stop at more errors or unfetched playlists, such as 'errors>1%,unfetched>10%'",
  ),
  rollback: option.flag(
    '--rollback',
    'with --stop-on: when it stops, restore the earlier playlists',
  ),
  state: option.text(
    '--state <file>',
    'with --staged: file that records the earlier playlists; continues an interrupted publication',
  ),
};

const limitNames = ['errors', 'unfetched'] as const;

/** A limit above which a publication in stages stops. */
export interface Limit {
  of: (typeof limitNames)[number];
  percent: number;
  /** As typed: `errors>1%`. */
  text: string;
}

/** A publication in stages, as the options describe it. */
export interface StagePlan {
  /** Ascending shares of the screens; the last is 100. */
  percents: readonly number[];
  limits: readonly Limit[];
}

function readPercents(text: string): number[] {
  const percents = text.split(',').map((part) => {
    const [, digits] = /^\s*(\d{1,3}(?:\.\d+)?)%\s*$/.exec(part) ?? [];
    return Number(digits);
  });
  const isAscending = percents.every((percent, at) => percent > (percents[at - 1] ?? 0));
  if (isAscending && percents.at(-1) === 100) return percents;
  throw usage(
    `--staged takes ascending percentages that end with 100%, such as 5%,25%,100%, not "${text}".`,
  );
}

function readLimit(part: string): Limit {
  const text = part.trim();
  const [, name, digits] = /^(\w+)\s*>\s*(\d{1,3}(?:\.\d+)?)%$/.exec(text) ?? [];
  const of = limitNames.find((one) => one === name);
  if (of !== undefined) return { of, percent: Number(digits), text };
  throw usage(`--stop-on takes limits such as 'errors>1%,unfetched>10%', not "${text}".`);
}

interface StageValues {
  staged: string;
  stopOn: string | undefined;
  rollback: boolean;
  state: string | undefined;
}

/** Parses the options of a publication in stages. Throws `usage` if they are invalid. */
export function readStagePlan({ staged, stopOn, rollback, state }: StageValues): StagePlan {
  const percents = readPercents(staged);
  const limits = stopOn === undefined ? [] : stopOn.split(',').map(readLimit);
  if (rollback && limits.length === 0) throw usage('--rollback needs limits: give --stop-on.');
  if (state === undefined)
    throw usage(
      '--staged needs --state with a new file, such as --state spring.json.',
      'It records the current playlists, so that the command can be run again.',
    );
  return { percents, limits };
}
