import { readPublication } from '../../content/publication.ts';
import { examineFirst } from '../../examination/examine-first.ts';
import { publishOn } from '../../glass/publish-on.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { selectScreens } from '../../records/select-screens.ts';
import { memoize } from '../../terminal/memoize.ts';
import { zoneOfScreens } from '../../times/venue-zone.ts';

/** Whether `--staged` is given. Throws `usage` for options that need `--staged` or exclude it. */
function isStaged({ options }: CommandContext): boolean {
  const { staged, stopOn, rollback, state, wait } = options;
  const [other] = [
    ...(stopOn === undefined ? [] : ['--stop-on']),
    ...(rollback ? ['--rollback'] : []),
    ...(state === undefined ? [] : ['--state']),
  ];
  if (staged === undefined && other !== undefined) throw usage(`${other} needs --staged.`);
  if (staged !== undefined && wait !== undefined)
    throw usage(
      '--wait does not work with --staged.',
      'With --staged, --hold sets the time for TVs to fetch, and --stop-on "unfetched>10%" the limit.',
    );
  return staged !== undefined;
}

/** Runs `signage playlist publish`. */
export async function runPublish(call: CommandContext): Promise<number | undefined> {
  const { file } = call.options;
  const names = call.args.screens;
  const hasStages = isStaged(call);
  if (call.options.origin !== undefined && !call.options.check)
    throw usage('--origin needs --check.');
  const select = memoize(() => selectScreens(call, names));
  const readZone = zoneOfScreens(call, select);
  const written = await readPublication(call, file, call.options, readZone);
  const selection = hasStages ? undefined : await select();
  if (!call.options.check) await examineFirst(call, written.publication.items);
  await written.files.upload(call, [written.publication]);
  if (call.options.check) {
    const { requireGoodMedia } = await import('../../examination/run-check.ts');
    await requireGoodMedia(call, names, written.publication);
  }
  if (selection) return publishOn(call, selection, written.publication);
  const { publishStaged } = await import('./staged.ts');
  return publishStaged(call, names, written);
}
