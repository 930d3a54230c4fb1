import type { CreatedTicket } from '../../../client/entities.ts';
import { csvLine } from '../../../domain/csv.ts';
import { hasCode } from '../../../domain/error.ts';
import { playerTicketLink } from '../../../player/pairing/ticket-link.ts';
import { keepSecret } from '../../connection/keep-secret.ts';
import { isLoopback } from '../../connection/loopback.ts';
import { reserveFile } from '../../connection/private-file.ts';
import { usage } from '../../input/settings.ts';
import { members, type View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { findVenue } from '../../records/find.ts';
import { mapRecords } from '../../records/for-each-record.ts';
import { screenPaths } from '../../records/names.ts';
import { confirmSelected, selectScreens } from '../../records/select-screens.ts';
import { escapeControl } from '../../terminal/escape.ts';
import { countText } from '../../terminal/text.ts';

/** What a ticket is for. `screen` is `null` for a shared ticket. */
interface Place {
  venue: string;
  screen: string | null;
  body: { screenId: string } | { venueId: string; uses: number };
}

interface MadeLink extends Omit<Place, 'body'> {
  link: string;
  expiresAt: string;
  id: string;
}

const columns = ['venue', 'screen', 'link'] as const;

/** The CSV file of links (RFC 4180), without its last line feed. */
const csvOf = (links: readonly MadeLink[]) =>
  [
    csvLine(columns),
    ...links.map(({ venue, screen, link }) =>
      csvLine([escapeControl(venue), escapeControl(screen ?? ''), link]),
    ),
  ]
    .join('')
    .trimEnd();

function checkOptions({ args, options }: CommandContext): void {
  const { shared, uses, out, qr, venue, selector, all } = options;
  if (out === undefined && qr === undefined)
    throw usage(
      'Links are secrets. Say where they go: --out links.csv, --qr links.html, or --out - for stdout.',
    );
  if (qr === '-') throw usage('--qr needs the path of a new file.');
  if (!shared && uses !== undefined)
    throw usage('A link pairs one TV: --uses works only with --shared.');
  if (!shared) return;
  if (uses === undefined)
    throw usage('Say how many TVs may be paired with the ticket: --uses 40, for example.');
  if (venue.length !== 1 || selector.length > 0 || all || args.screen.length > 0)
    throw usage('A shared ticket belongs to one venue: give --shared with one --venue alone.');
}

async function placesOf(call: CommandContext): Promise<Place[]> {
  if (call.options.shared) {
    const { id: venueId, name: venue } = await findVenue(call, call.options.venue[0]);
    return [{ venue, screen: null, body: { venueId, uses: call.options.uses } }];
  }
  const { screens, single } = await selectScreens(call, call.args.screen);
  // The service says what to do about a named screen that has a TV.
  const free = single ? screens : screens.filter(({ screen }) => screen.state !== 'active');
  if (free.length < screens.length)
    call.note(
      `Without a link, because they have a TV: ${countText(screens.length - free.length, 'screen')}.`,
    );
  if (!single) await confirmSelected(call, 'Create links for', free);
  const paths = await screenPaths(call);
  return free.map(({ id, screen }) => ({
    venue: (paths.get(id) ?? '').slice(0, -screen.name.length - 1),
    screen: screen.name,
    body: { screenId: id },
  }));
}

/** Says what is wrong with the address that links begin with. */
async function noteAddress(call: CommandContext, url: string): Promise<void> {
  if (isLoopback(new URL(url).hostname))
    call.note(
      `The links contain ${url}, which only this machine can reach. Give another address with --url.`,
    );
  const page = await call.send('GET', '/player').catch(() => undefined);
  if (page?.status !== 200)
    call.note(
      `${url}/player does not answer with the web player, so the links are of use to other TV apps only. If it redirects, give the final address with --url: a link that is redirected may not work.`,
    );
}

const viewOf = (showsLinks: boolean): View<MadeLink> => ({
  columns: members<MadeLink>(
    'venue',
    'screen',
    ...(showsLinks ? ['link' as const] : []),
    'expiresAt',
    'id',
  ),
  nameOf: ({ id, link }) => (showsLinks ? link : id),
});

/** Creates the tickets, and writes their links. Revokes them if they cannot be written. */
export async function createTickets(call: CommandContext, expiresAt: string): Promise<number> {
  checkOptions(call);
  const { out, qr } = call.options;
  const places = await placesOf(call);
  if (places.length === 0) {
    call.note('Nothing to do: no screen waits for a TV.');
    return 0;
  }
  const url = (await call.profile()).url.value;
  const create = ({ body }: Place) => call.change('createTicket', { body: { ...body, expiresAt } });
  if (call.common.dryRun) {
    for (const place of places) await create(place);
    return 0;
  }
  const csvFile = out === undefined || out === '-' ? undefined : await reserveFile(out, '--out');
  const pageFile =
    qr === undefined
      ? undefined
      : await reserveFile(qr, '--qr').catch(async (error) => {
          await csvFile?.discard();
          throw error;
        });
  const made: CreatedTicket[] = [];
  const makeLink = async (place: Place): Promise<MadeLink | undefined> => {
    try {
      const { ticket, id } = await create(place).then((one) => {
        made.push((one as { answer: CreatedTicket }).answer);
        return made.at(-1) as CreatedTicket;
      });
      const { venue, screen } = place;
      return { venue, screen, link: playerTicketLink(url, ticket), expiresAt, id };
    } catch (error) {
      if (places.length === 1 || !hasCode(error, 'screen_already_bound')) throw error;
      call.note(`${place.venue}/${place.screen} has a TV by now and gets no link.`);
      return undefined;
    }
  };
  let isWritten = false;
  const work = async () => {
    const links = (await mapRecords(call, 'Creating', places, makeLink)).filter(
      (one) => one !== undefined,
    );
    await csvFile?.write(csvOf(links));
    if (pageFile) await pageFile.write((await import('./link-page.ts')).linkPage(links));
    isWritten = true;
    const shown = out === '-' ? links : links.map(({ link: _, ...rest }) => rest as MadeLink);
    await call.results.list([shown], viewOf(out === '-'));
    return links.length;
  };
  try {
    const count = await keepSecret(work, {
      async undo() {
        for (const { id } of made) await call.change('revokeTicket', { params: { id } });
        return made.length > 0 ? `${countText(made.length, 'new ticket')} revoked again.` : '';
      },
      left: 'New tickets are valid that nobody has: signage ticket list shows them.',
    });
    await noteAddress(call, url);
    const files = [csvFile && out, pageFile && qr].filter((path) => path).join(' and ');
    if (files !== '')
      call.note(`Wrote ${countText(count, 'link')} to ${files}. They are secrets: keep them so.`);
    return 0;
  } finally {
    if (!isWritten) await Promise.allSettled([csvFile?.discard(), pageFile?.discard()]);
  }
}
