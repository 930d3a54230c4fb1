import { hasCode } from '../../../domain/error.ts';
import type { Publication } from '../../../domain/playlists/playlist.ts';
import { examineFirst } from '../../examination/examine-first.ts';
import { type ConfigTree, mergeConfigTrees } from '../../input/config-path.ts';
import { member, members, type View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { unknownSettings } from '../../records/unknown-settings.ts';
import { isPrintable } from '../../terminal/escape.ts';
import { countsText, countText } from '../../terminal/text.ts';
import { type Applied, applyPlan, deletionRefusal, plannedResult } from './apply-plan.ts';
import { garbledWarning } from './garbled-text.ts';
import { type Planned, planSite } from './plan-site.ts';
import { readSite } from './read-site.ts';
import type { Site } from './site-schema.ts';

/** One difference as an output row. */
interface DifferenceLine {
  change: Planned['change'];
  kind: Planned['kind'];
  name: string;
  id: string | null;
  member: string;
  from: unknown;
  to: unknown;
}

const differenceLines = (plans: readonly Planned[]): DifferenceLine[] =>
  plans.flatMap(({ change, kind, name, current, differences }) =>
    differences.map((one) => ({ change, kind, name, id: current?.id ?? null, ...one })),
  );

/** Shortens a value: lists, playlists and schedules become their number of items. */
function brief(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`;
  const { items, entries } = (value ?? {}) as { items?: unknown; entries?: unknown };
  const inner = items ?? entries;
  return Array.isArray(inner) ? brief(inner) : value;
}

const nameOf = ({ name, id }: { name: string; id: string | null }) =>
  isPrintable(name) ? name : (id ?? name);

const differenceView: View<DifferenceLine> = {
  columns: [
    ...members<DifferenceLine>('change', 'kind', 'name', 'member'),
    { name: 'from', value: ({ from }) => brief(from) },
    { name: 'to', value: ({ to }) => brief(to) },
    member('id', { wide: true }),
  ],
  nameOf,
};

const appliedView: View<Applied> = {
  columns: [
    ...members<Applied>('result', 'kind', 'name'),
    { name: 'changed', value: ({ changed }) => changed.join(', ') },
    member('error'),
    member('id', { wide: true }),
  ],
  nameOf,
};

interface SiteOptions {
  files: readonly string[];
  prune: boolean;
  /** Whether the files may name playlist files outside their folders. */
  allowOutside: boolean;
}

async function plansOf(
  call: CommandContext,
  { files, prune, allowOutside }: SiteOptions,
): Promise<{ plans: Planned[]; site: Site }> {
  // diff has no such flag: it uploads nothing.
  const force = call.options.unexamined ?? true;
  const site = await readSite(call, files, { allowOutside, force });
  const warning = garbledWarning(site);
  if (warning !== undefined) call.note(warning);
  const owners = [site.tenant, ...site.venues.flatMap((venue) => [venue, ...venue.screens])];
  // Only the names of the settings count.
  const settings = owners
    .map((owner) => owner?.config ?? {})
    .reduce<ConfigTree>(mergeConfigTrees, {});
  for (const sentence of await unknownSettings(settings)) call.note(sentence);
  return { plans: await planSite(call, site, { prune }), site };
}

const changing = (plans: readonly Planned[]) =>
  plans.filter(({ change }) => change !== 'unchanged');

/**
 * Prints the differences between service and files. Returns the exit code: 9 if there are any, else
 * 0.
 */
export async function showDifferences(call: CommandContext, options: SiteOptions): Promise<number> {
  const { plans } = await plansOf(call, options);
  const changes = changing(plans);
  const lines = differenceLines(changes);
  // Prints each name only once.
  const shown =
    call.common.output === 'name'
      ? lines.filter((line, at) => lines[at - 1]?.name !== line.name)
      : lines;
  await call.results.list([shown], differenceView);
  const same = plans.length - changes.length;
  if (changes.length === 0) call.note(`Nothing differs: ${countText(same, 'record')} compared.`);
  else
    call.note(
      `${countText(changes.length, 'record')} to change: ${countsText(changes.map(({ change }) => `to ${change}`))}.`,
    );
  return changes.length === 0 ? 0 : failedExitCode;
}

/** The confirmation question for all deletions of `--prune`. */
function deletionQuestion(plans: readonly Planned[]): string {
  const names = (kind: Planned['kind']) =>
    plans.filter((plan) => plan.kind === kind).map(({ name }) => name);
  const venues = names('venue');
  const screens = names('screen');
  const counts = [
    ...(venues.length > 0 ? [countText(venues.length, 'venue')] : []),
    ...(screens.length > 0 ? [countText(screens.length, 'screen')] : []),
  ];
  const shown = [...venues, ...screens].slice(0, 5).join(', ');
  return `Delete ${counts.join(' and ')} that the files do not name (${shown}${plans.length > 5 ? ', …' : ''})?`;
}

function summary(results: readonly Applied[]): string {
  const words = results.map(({ result }) => result);
  if (words.every((word) => word === 'unchanged'))
    return `Nothing to change: ${countText(words.length, 'record')} compared.`;
  return `Applied ${countText(words.length, 'record')}: ${countsText(words)}.`;
}

/** Returns the playlists, and the entries of schedules, that the plans change. */
const newPlaylists = (plans: readonly Planned[]) =>
  changing(plans).flatMap(({ wanted, differences }) => {
    const differs = (name: string) => differences.some(({ member }) => member.startsWith(name));
    return [
      ...(wanted.playlist && differs('playlist') ? [wanted.playlist] : []),
      ...(wanted.schedule && differs('schedule') ? wanted.schedule.entries : []),
    ];
  });

/** Applies site files. Returns the exit code: 9 if a record failed, else 0. */
export async function applySite(
  call: CommandContext,
  { force, ...options }: SiteOptions & { force: boolean },
): Promise<number> {
  const { plans, site } = await plansOf(call, options);
  if (call.common.dryRun) {
    await call.results.list([plans.map((plan) => plannedResult(plan, force))], appliedView);
    call.note(
      `Nothing was changed. Planned: ${countsText(plans.map(({ change }) => (change === 'unchanged' ? change : `to ${change}`)))}.`,
    );
    return 0;
  }
  call.heedHangup();
  const deletes = plans.filter(
    (plan) => plan.change === 'delete' && deletionRefusal(plan, force) === null,
  );
  const playlists = newPlaylists(plans);
  // The schemas of site files have checked the items.
  const items = playlists.flatMap((playlist) => playlist.items ?? []) as Publication['items'];
  await examineFirst(call, items, { flag: 'unexamined' });
  if (deletes.length > 0) await call.confirmDestruction(deletionQuestion(deletes));
  await site.media.upload(call, playlists);
  const { results, partly, stopped } = await applyPlan(call, plans, { force });
  await call.results.list([results], appliedView);
  if (stopped !== undefined) {
    const more = partly > 0 ? ` ${countText(partly, 'more record')} changed in part.` : '';
    const cause = hasCode(stopped, 'interrupted') ? 'Interrupted' : 'Stopped';
    call.note(
      `${cause} after ${(results.length - partly).toLocaleString('en')} of ${countText(plans.length, 'record')}. Run the same command again to continue.${more}`,
    );
    throw stopped;
  }
  call.note(summary(results));
  return results.some(({ result }) => result === 'failed') ? failedExitCode : 0;
}
