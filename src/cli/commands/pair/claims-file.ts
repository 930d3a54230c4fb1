import type { Screen, Venue } from '../../../client/entities.ts';
import { type FieldError, SignageError } from '../../../domain/error.ts';
import { foldName } from '../../../domain/fold-name.ts';
import { type CsvLine, cellText, readCsvLines } from '../../input/csv-lines.ts';
import { readInput } from '../../input/input-file.ts';
import { readClaim } from '../../input/pairing-code.ts';
import type { CommandContext } from '../../program/context.ts';
import { countText } from '../../terminal/text.ts';
import { newPairing, type Pairing, placeName } from './pairing.ts';
import { describeTv } from './shown-claim.ts';

const columns = ['screen', 'claim'] as const;

/**
 * Returns a function that reads the cell of a column. Throws `invalid_file` if the header is not
 * valid.
 */
function readHeader(header: CsvLine | undefined, file: string) {
  const names = header?.cells.map((cell) => cell.trim().toLowerCase()) ?? [];
  if (columns.some((column) => !names.includes(column)))
    throw new SignageError(
      'invalid_file',
      `${file}, line 1: must name the columns: ${columns.join(',')}.`,
    );
  return ({ cells }: CsvLine, column: (typeof columns)[number]) =>
    cellText(cells[names.indexOf(column)] ?? '');
}

/**
 * Reads the file of `--claims-file`: CSV with the columns `screen`, by name or id, and `claim`. A
 * line without a claim is skipped. Throws `invalid_file` with all mistakes.
 */
export async function readClaimsFile(call: CommandContext, venue: Venue): Promise<Pairing[]> {
  const path: string = call.options.claimsFile;
  const file = path === '-' ? 'stdin' : path;
  const [header, ...lines] = readCsvLines(await readInput(call.io, path, { isSecret: true }), file);
  const cell = readHeader(header, file);
  const screens = await call.all('listScreens', { query: { venueId: venue.id } });
  const byName = new Map<string, Screen>();
  for (const screen of screens) byName.set(foldName(screen.name), screen).set(screen.id, screen);
  const fieldErrors: FieldError[] = [];
  const seen = new Map<string, number>();
  const pairings: Pairing[] = [];
  for (const line of lines) {
    const complain = (column: string, message: string) =>
      fieldErrors.push({ path: `${file}, line ${line.number}: ${column}`, message });
    const requireFirst = (column: string, value: string) => {
      const first = seen.get(value);
      if (first !== undefined) complain(column, `is also on line ${first}`);
      seen.set(value, first ?? line.number);
    };
    const typed = cell(line, 'claim');
    if (typed === '') continue;
    const name = cell(line, 'screen');
    const screen = byName.get(name) ?? byName.get(foldName(name));
    if (screen) requireFirst('screen', screen.id);
    else complain('screen', `there is no screen "${name}" in the venue "${venue.name}"`);
    try {
      const claim = readClaim(typed);
      requireFirst('claim', claim);
      if (screen) pairings.push(newPairing({ venue, screen, changes: [] }, claim));
    } catch (error) {
      complain('claim', (error as SignageError).message);
    }
  }
  if (fieldErrors.length > 0) {
    const { invalidFile } = await import('../../input/source-document.ts');
    throw invalidFile(fieldErrors);
  }
  if (pairings.length === 0) call.note(`Nothing to pair: ${file} has no line with a claim.`);
  return pairings;
}

/**
 * Shows each TV with its screen, and asks whether to pair them. Does nothing with `--yes`. Throws
 * `claim_not_found` if no TV shows one of the claims.
 */
export async function confirmTvs(
  call: CommandContext,
  venue: Venue,
  pairings: readonly Pairing[],
): Promise<void> {
  if (call.common.yes || pairings.length === 0) return;
  for (const { claim = '', place } of pairings) {
    const tv = await describeTv(call, claim).catch((error: unknown) => {
      call.note(`${placeName(place)}, claim ${claim}:`);
      throw error;
    });
    call.note(`${placeName(place)}: ${tv}`);
  }
  await call.confirmDestruction(
    `Pair ${countText(pairings.length, 'TV')} with these screens of "${venue.name}"?`,
  );
}
