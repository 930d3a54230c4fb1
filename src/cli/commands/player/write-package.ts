import { SignageError } from '../../../domain/error.ts';
import { connectWithoutToken } from '../../connection/connect.ts';
import { isLoopback } from '../../connection/loopback.ts';
import { createFile, namingFile, syncHandle } from '../../connection/private-file.ts';
import { type Address, readAddress } from '../../connection/profile.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { autorunScript } from './autorun-script.ts';
import { makeIpk } from './ipk.ts';

interface PanelPackage {
  /** Name of the file that the panel looks for. */
  name: string;
  make(playerUrl: string): Promise<Uint8Array | string>;
  /** What a person does with the file. */
  next: string;
}

const packages: Record<string, PanelPackage> = {
  webos: {
    name: 'com.lg.app.signage.ipk',
    make: makeIpk,
    next: 'Copy it into the folder "application" of a USB stick, and install it at the panel: SI Server Setting, Local, IPK, USB (docs/panels/webos.md).',
  },
  brightsign: {
    name: 'autorun.brs',
    make: async (playerUrl) => autorunScript(playerUrl),
    next: 'Copy it to the first folder of the SD card, and start the player (docs/panels/brightsign.md).',
  },
};

/**
 * Returns whether this machine reaches the web player. Warns if it does not, because the panel may.
 * Throws if the service has no player.
 */
async function reachesPlayer(
  call: CommandContext,
  address: Address,
  playerUrl: string,
): Promise<boolean> {
  const client = await connectWithoutToken(address, call);
  try {
    await client.send('GET', '/player', { signal: call.interrupted });
    return true;
  } catch (error) {
    if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
    const { status } = error;
    if (status === 404)
      throw new SignageError(
        'not_found',
        `There is no web player at ${playerUrl}. Start the service without --no-player.`,
      );
    const what = status === undefined ? 'cannot be reached' : `answered with the status ${status}`;
    call.note(`${playerUrl} ${what}, asked from this machine. The panel may reach it.`);
    return false;
  }
}

/** Writes the package of a panel to a new file. Returns the file and the address that it opens. */
export async function writePackage(call: CommandContext) {
  const { panel } = call.args;
  const { out, rotate } = call.options;
  const kind = packages[panel] as PanelPackage;
  const address = await readAddress(call.options, call.io);
  const { url } = address;
  const player = `${url.value}/player`;
  if (isLoopback(new URL(player).hostname))
    throw usage(
      `${url.value} (${url.source}) is this machine itself: a panel would look for the service at the panel. Give the address that panels reach: --url https://…`,
    );
  const opens = rotate === undefined ? player : `${player}#rotate=${rotate}`;
  const isReached = await reachesPlayer(call, address, player);
  const path = out ?? kind.name;
  const content = await kind.make(opens);
  const file = await createFile(path, '--out');
  try {
    await namingFile(path, file.writeFile(content));
    await namingFile(path, syncHandle(file));
    await file.chmod(0o644);
  } finally {
    await file.close();
  }
  if (player.startsWith('http:'))
    call.note('Without HTTPS, the panel needs the network at each start.');
  call.note(kind.next);
  return { file: path, opens, bytes: Buffer.byteLength(content), isReached };
}
