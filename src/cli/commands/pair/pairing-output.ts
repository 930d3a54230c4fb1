import { unlink } from 'node:fs/promises';
import { interrupted } from '../../../client/pause.ts';
import { RuntimeClient } from '../../../client/runtime-client.ts';
import { csvLine } from '../../../domain/csv.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import { playerKeyLink } from '../../../player/pairing/player-link.ts';
import { clientConnection } from '../../connection/connect.ts';
import { keepSecret } from '../../connection/keep-secret.ts';
import { replacePrivateFile, reserveFile } from '../../connection/private-file.ts';
import { usage } from '../../input/settings.ts';
import { member, type View, wideMembers } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { makePainter } from '../../terminal/colours.ts';
import type { DrawQr } from '../../terminal/draw-code.ts';
import { escapeControl, isPrintable, ownSequence } from '../../terminal/escape.ts';
import { type PressedKey, watchKeys } from '../../terminal/keys.ts';
import {
  isWatched,
  type LiveLine,
  type LiveViewSize,
  openLiveView,
} from '../../terminal/live-view.ts';
import type { Pairing, PairSession, PairUpdate } from './pairing.ts';
import { modelText, versionText } from './pairing.ts';

const flag = '--player-link-file';

/**
 * Yields all updates unchanged. Registers with the first code, in the place of a player that
 * forgets its storage. Writes the link of the web player with the device key into a new file with
 * mode 0600. Throws `usage` if the file exists or cannot be created.
 */
async function* registerForPlayer(
  call: CommandContext,
  path: string,
  updates: AsyncIterable<PairUpdate>,
): AsyncGenerator<PairUpdate> {
  const { url } = await call.profile();
  const connection = await clientConnection(await call.profile(), call, call.common.verbose);
  const retry = { refusedForMs: call.common.retry };
  const client = new RuntimeClient({ ...connection, url: url.value, retry });
  const file = await reserveFile(path, flag);
  let isWritten = false;
  try {
    for await (const update of updates) {
      if (update.step === 'code' && update.code !== null && !isWritten) {
        if (call.interrupted.aborted) throw interrupted(call.interrupted);
        const registration = { pairingCode: update.code, deviceInfo: { model: 'Web player' } };
        const registered = await client.register(registration);
        const revocation = {
          params: { id: registered.deviceId },
          body: { reason: 'key not saved' },
        };
        await keepSecret(() => file.write(playerKeyLink(url.value, registered)), {
          undo: async () => {
            await call.change('revokeDevice', revocation);
            return 'The device was revoked again.';
          },
          left: `The device ${registered.deviceId} has a key that nobody knows: signage device revoke ${registered.deviceId}`,
        });
        isWritten = true;
        call.note(
          `${path} has the link that the player opens at each start. It contains the device key: keep it secret. This player never rotates its key.`,
        );
      }
      yield update;
    }
  } finally {
    if (!isWritten) await file.discard();
  }
}

const columns = ['venue', 'screen', 'code', 'expiresAt'];

function rowOf({ venue, screen, code, expiresAt }: PairUpdate): string {
  return csvLine([escapeControl(venue), escapeControl(screen), code ?? '', expiresAt ?? '']);
}

/**
 * Yields all updates unchanged. Keeps the codes that no TV has used yet in a new CSV file (RFC
 * 4180) with mode 0600. Always deletes the file at the end. Throws `usage` if the file exists or
 * cannot be created.
 */
async function* keepCodesFile(
  path: string,
  updates: AsyncIterable<PairUpdate>,
): AsyncGenerator<PairUpdate> {
  const reserved = await reserveFile(path, '--codes-file');
  const pending = new Map<string, string>();
  try {
    await reserved.write(columns.join(','));
    for await (const update of updates) {
      const wasPending = pending.delete(update.screenId);
      const isPending = update.step === 'code';
      if (isPending) pending.set(update.screenId, rowOf(update));
      if (isPending || wasPending)
        await replacePrivateFile(path, csvLine(columns) + [...pending.values()].join(''));
      yield update;
    }
  } finally {
    await unlink(path).catch(() => {});
  }
}

/** The control character BEL: the terminal makes a sound. */
const bell = '\u0007';

/** Returns whether this output format prints each code as soon as it exists. */
function resultsShowCodes({ output = 'table', jq, fields }: CommandContext['common']): boolean {
  if (jq !== undefined || fields !== undefined) return output === 'ndjson';
  return ['table', 'wide', 'ndjson', 'csv'].includes(output);
}

/** Throws `usage` if nobody would see the code, because of the chosen output format. */
export function requireVisibleCode(call: CommandContext): void {
  if (call.options.tv !== undefined || call.options.claimsFile !== undefined) return;
  if (isWatched(call) || !call.common.quiet || resultsShowCodes(call.common)) return;
  if (call.options.codesFile !== undefined) return;
  throw usage('With --quiet and this output format nobody would see the code. Use -o ndjson.');
}

/** Returns the note with the address of the web player, an alternative to the QR code. */
export const inBrowser = (playerLink: string) => `In a browser instead: ${playerLink}`;

/**
 * Prints a QR code, in black and white if the terminal supports colours. Prints its link below it.
 */
async function noteQr(
  { io, common, note }: CommandContext,
  drawQr: DrawQr,
  link: string,
  playerLink: string | undefined,
): Promise<void> {
  const paint = await makePainter(io, io.stderr);
  const lines = drawQr(link).map((text) => `${paint.inverse(text)}\n`);
  if (!common.quiet) io.stderr.write(lines.join(''));
  note(link);
  if (playerLink !== undefined) note(inBrowser(playerLink));
}

/**
 * Prints the code on stderr if the results do not show it in time. For a claim, prints that the TV
 * gets the code. With `--qr` or `--qr-web`, also prints the QR code.
 */
async function noteCode(
  { call, playerLinkOf }: PairSession,
  update: PairUpdate,
  drawQr: DrawQr | undefined,
): Promise<void> {
  if (update.step !== 'code' || update.code === null) return;
  if (!resultsShowCodes(call.common)) {
    const screen = `${update.venue}/${update.screen}`;
    call.note(
      update.claim === null
        ? `Code for ${screen}: ${groupedCode(update.code)}, valid until ${update.expiresAt}`
        : `Offered ${screen} to the TV that shows ${groupedCode(update.claim)}. If it asks, press OK on the TV.`,
    );
  }
  if (drawQr && update.link !== null)
    await noteQr(call, drawQr, update.link, playerLinkOf?.(update.code));
}

/** Output for the person at the terminal. */
interface PairingDisplay {
  /** Renders the live view. `undefined` if there is no live view. */
  render: ((size: LiveViewSize) => readonly LiveLine[]) | undefined;
  /** Returns the lines that replace the live view at the end. */
  last(): readonly LiveLine[];
  /** Returns the text about a problem. It is printed if there is no live view. */
  problemText(pairing: Pairing): string | undefined;
  drawQr?: DrawQr | undefined;
  /** Handles a key that was pressed during the live view. */
  onKey?(key: PressedKey): void;
}

/** Yields all updates unchanged. Draws the live view, or prints notes on stderr. */
export async function* updatesWithOutput(
  session: PairSession,
  { render, last, problemText, drawQr, onKey }: PairingDisplay,
  follow: (session: PairSession) => AsyncIterable<PairUpdate>,
): AsyncGenerator<PairUpdate[]> {
  const { call } = session;
  const liveView = isWatched(call) && render ? await openLiveView(call, render) : undefined;
  const stopKeys =
    liveView && onKey && call.prompter.canAsk
      ? watchKeys(call.io, (key) => {
          onKey(key);
          liveView.draw();
        })
      : undefined;
  const changed = (pairing: Pairing) => {
    const problem = problemText(pairing);
    if (liveView) liveView.draw();
    else if (problem !== undefined) call.note(problem);
  };
  const { codesFile, playerLinkFile } = call.options;
  const updates = follow({ ...session, changed });
  const withCodes = codesFile === undefined ? updates : keepCodesFile(codesFile, updates);
  const all =
    playerLinkFile === undefined ? withCodes : registerForPlayer(call, playerLinkFile, withCodes);
  try {
    for await (const update of all) {
      if (liveView) liveView.draw();
      else await noteCode(session, update, drawQr);
      if (liveView && update.step === session.waitFor && !call.options.noBell)
        call.io.stderr.write(ownSequence(bell));
      yield [update];
    }
  } finally {
    stopKeys?.();
    liveView?.close(last());
  }
}

const screenColumn = {
  name: 'screen',
  value: ({ venue, screen }: PairUpdate) => `${venue}/${screen}`,
};
const deviceColumns = [
  { name: 'device', value: ({ deviceId }: PairUpdate) => deviceId },
  { name: 'model', value: modelText },
  { name: 'version', value: versionText },
];

const nameOf = ({ venue, screen, screenId }: PairUpdate) =>
  isPrintable(`${venue}/${screen}`) ? `${venue}/${screen}` : screenId;

/** Table of updates, printed as they happen. */
const updateView: View<PairUpdate> = {
  columns: [
    member('step'),
    screenColumn,
    member('code'),
    ...deviceColumns,
    member('error'),
    ...wideMembers<PairUpdate>('at', 'expiresAt', 'link'),
  ],
  nameOf,
};

/** Table of finished pairings. */
const pairedView: View<PairUpdate> = { columns: [screenColumn, ...deviceColumns], nameOf };

/**
 * Prints each update as it happens. If a person watches the live view on the same terminal, prints
 * only the final result. The result is a record, or a list with one row for each screen.
 */
export async function showUpdates(
  call: CommandContext,
  shape: 'record' | 'list',
  updates: AsyncIterable<PairUpdate[]>,
): Promise<void> {
  if (!isWatched(call) || !call.io.stdout.isTTY) {
    await call.results.list(updates, updateView);
    return;
  }
  const last = new Map<string, PairUpdate>();
  for await (const page of updates) for (const update of page) last.set(update.screenId, update);
  const results = [...last.values()];
  if (shape === 'list') await call.results.list([results], pairedView);
  else for (const update of results) await call.results.record(update, pairedView);
}
