import { secondMs } from '../../../domain/clock.ts';
import { entryIdOf } from '../../../domain/schedule/entry-times.ts';
import type { MediaFiles } from '../../content/media-files.ts';
import { type CheckedItem, examineUrls, foreignItems } from '../../examination/examine-first.ts';
import { fileText } from '../../examination/finding.ts';
import type { CommandContext } from '../../program/context.ts';
import type { ScheduleFinding } from './schedule-findings.ts';

const limitMs = 20 * secondMs;

/** An entry, with its items if it has some of its own. */
interface EntryWithItems {
  name?: string | undefined;
  items?: readonly object[] | undefined;
}

/**
 * Examines the files and URLs of a schedule, each once.
 *
 * @param files those of this computer. `undefined`: the schedule is from the service.
 */
export async function findMedia(
  call: CommandContext,
  entries: readonly EntryWithItems[],
  files: MediaFiles | undefined,
): Promise<ScheduleFinding[]> {
  const entryOf = new Map<unknown, string>();
  const items = entries.flatMap((entry, place) => {
    const own = (entry.items ?? []) as CheckedItem[];
    for (const { creativeUrl } of own)
      if (!entryOf.has(creativeUrl)) entryOf.set(creativeUrl, entryIdOf(entry, place));
    return own;
  });
  const finding = (level: ScheduleFinding['level'], entry: string, detail: string) =>
    ({ level, entry, problem: 'media', detail }) as const;
  const local = entries.flatMap((entry, place) =>
    (files?.namedIn([entry]) ?? []).flatMap(({ path, findings }) =>
      findings.map((one) => finding(one.level, entryIdOf(entry, place), fileText(path, one))),
    ),
  );
  const { found, late } = await examineUrls(call, foreignItems(items), limitMs);
  const urls = found.map(({ item, level, text }) =>
    finding(level, entryOf.get(item.creativeUrl) ?? '', text),
  );
  const unseen = late.map(({ creativeUrl }) =>
    finding('warning', entryOf.get(creativeUrl) ?? '', 'Its media were not examined in time.'),
  );
  return [...local, ...urls, ...unseen];
}
