import type { MediaFinding } from '../../../../src/cli/examination/finding.ts';
import { item } from '../../../support/service/content.ts';
import { type CliOptions, type CliRun, runCli } from '../../run-cli.ts';

export interface ItemOf {
  url: string;
  type?: string;
  storage?: boolean;
}

interface CheckRun extends CliRun {
  findings: MediaFinding[];
  /** Level and check of each finding: `error cors`. */
  named: string[];
}

/** Runs `playlist check` for a file with these items, without a service. */
export async function checkItems(
  items: readonly ItemOf[],
  argv: readonly string[] = [],
  { validUntil, ...options }: CliOptions & { validUntil?: number } = {},
): Promise<CheckRun> {
  const written = items.map(({ url, type = 'image', ...more }) =>
    item({ creativeUrl: url, creativeType: type, ...more }),
  );
  const stdin = JSON.stringify({ items: written, validUntil });
  const run = await runCli(['playlist', 'check', '-f', '-', '-o', 'json', ...argv], {
    ...options,
    env: options.env ?? { no_proxy: '*' },
    stdin,
  });
  const findings: MediaFinding[] = run.stdout === '' ? [] : JSON.parse(run.stdout);
  const named = findings.map(({ level, check }) => `${level} ${check}`);
  return { ...run, json: findings, ndjson: [], findings, named };
}
