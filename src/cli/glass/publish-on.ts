import { hasCode, SignageError } from '../../domain/error.ts';
import type { Publication } from '../../domain/playlists/playlist.ts';
import { member } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { type ChangeResult, changedScreens } from '../records/change-many.ts';
import { printResults, resultView, summarize } from '../records/for-each-record.ts';
import {
  confirmSelected,
  type Selected,
  type Selection,
  selectionFilters,
} from '../records/select-screens.ts';
import { playlistView } from '../records/views/playlist-views.ts';
import { withProgress } from '../terminal/progress.ts';
import { countText, shellQuote } from '../terminal/text.ts';
import { type Delivery, makeDelivery, type TvState } from './delivery.ts';

const publishing = (body: Publication) => ({ action: 'publish' as const, ...body });

/** What `publishOn` may be given besides the playlist. */
interface PublishOptions {
  /** Preconditions, for a single screen. */
  headers?: Record<string, string>;
  /** Makes the view of the playlist of a single screen. */
  view?: typeof playlistView;
}

async function publishOnOne(
  call: CommandContext,
  { id, name, screen }: Selected,
  body: Publication,
  { headers = {}, view = playlistView }: PublishOptions,
): Promise<void> {
  const made = await call.change('publishPlaylist', { params: { id }, body, headers });
  if (!made) return;
  await call.results.record(made.answer, view(call, made.answer, screen));
  const { wait } = call.options;
  const { version, playing } = made.answer;
  if (!playing) {
    call.note(
      `Not playing: something else plays on "${name}" now. To see what: signage explain ${shellQuote(name)}`,
    );
    return;
  }
  if (wait === undefined) return;
  const what = `version ${version}`;
  const delivery = makeDelivery(call, { targets: [{ id, name, version }], filters: {}, what });
  await waitForDelivery(call, delivery);
  call.note(`The TV of "${name}" has ${what}.`);
}

/** Waits for the TVs. After Ctrl-C, says that the playlist stays published. */
async function waitForDelivery(call: CommandContext, delivery: Delivery): Promise<void> {
  try {
    await delivery.wait(call.options.wait);
  } catch (error) {
    if (hasCode(error, 'interrupted')) call.note('The playlist stays published.');
    throw error;
  }
}

type PublishResult = ChangeResult & { tv?: TvState };

/** Publishes on several screens, waits for their TVs, and then prints the results. */
async function publishAndWait(
  call: CommandContext,
  screens: readonly Selected[],
  body: Publication,
): Promise<number> {
  const results: PublishResult[] = [];
  let stopped: { error: unknown } | undefined;
  let delivery: Delivery | undefined;
  try {
    await withProgress(call, async (show) => {
      for await (const result of changedScreens(call, screens, publishing(body), show))
        results.push(result);
    });
    const targets = results.flatMap(({ id, name, version, playing }) =>
      version === undefined || playing === false ? [] : [{ id, name, version }],
    );
    const below = results.filter(({ playing }) => playing === false);
    const [first] = below;
    if (first)
      call.note(
        `Not playing on ${countText(below.length, 'screen')}, where something else plays now. To see what: signage explain ${shellQuote(first.name)}`,
      );
    const filters = selectionFilters(call, screens);
    delivery = makeDelivery(call, { targets, filters, what: 'the new version' });
    await waitForDelivery(call, delivery);
    if (targets.length > 1) call.note(delivery.summary());
  } catch (error) {
    stopped = { error };
  }
  const shown = results.map((result): PublishResult => {
    const tv = delivery?.stateOf(result.id);
    return tv === undefined ? result : { ...result, tv };
  });
  const columns = [member<PublishResult, 'version'>('version'), member<PublishResult, 'tv'>('tv')];
  await call.results.list([shown], resultView(columns));
  const exitCode = summarize(
    call,
    results.map(({ result }) => result),
  );
  if (!stopped) return exitCode;
  const { error } = stopped;
  const isPartly = exitCode !== 0 && hasCode(error, 'wait_timed_out');
  throw isPartly ? new SignageError('partly_failed', error.message, { ...error }) : error;
}

/** Publishes a playlist on the selected screens, after a question if there are several. */
export async function publishOn(
  call: CommandContext,
  { screens, single }: Selection,
  body: Publication,
  options: PublishOptions = {},
): Promise<number | undefined> {
  const { wait } = call.options;
  if (single) {
    await publishOnOne(call, single, body, options);
    return undefined;
  }
  await confirmSelected(call, 'Publish on', screens);
  if (wait !== undefined && !call.common.dryRun) return publishAndWait(call, screens, body);
  return printResults(call, (show) => changedScreens(call, screens, publishing(body), show));
}
