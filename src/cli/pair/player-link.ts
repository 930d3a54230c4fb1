import { interrupted } from '../../client/pause.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { playerKeyLink } from '../../player/pairing/player-link.ts';
import { clientConnection } from '../api/connect.ts';
import { reserveFile } from '../api/private-file.ts';
import type { CommandContext } from '../command/context.ts';
import type { PairUpdate } from './pair-update.ts';

const flag = '--player-link-file';

/**
 * Yields all updates unchanged. Registers with the first code, in the place of a player that
 * forgets its storage. Writes the link of the web player with the device key into a new file with
 * mode 0600. Throws `usage` if the file exists or cannot be created.
 */
export async function* registerForPlayer(
  call: CommandContext,
  path: string,
  updates: AsyncIterable<PairUpdate>,
): AsyncGenerator<PairUpdate> {
  const { url } = await call.profile();
  const connection = await clientConnection(await call.profile(), call, call.common.verbose);
  const client = new RuntimeClient({ ...connection, url: url.value });
  const file = await reserveFile(path, flag);
  let isWritten = false;
  try {
    for await (const update of updates) {
      if (update.step === 'code' && update.code !== null && !isWritten) {
        if (call.interrupted.aborted) throw interrupted(call.interrupted);
        const registration = { pairingCode: update.code, deviceInfo: { model: 'Web player' } };
        const registered = await client.register(registration);
        await file.write(playerKeyLink(url.value, registered));
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
