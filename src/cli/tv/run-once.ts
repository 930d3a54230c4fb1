import { hasCode, SignageError } from '../../domain/error.ts';
import type { Player } from '../../simulator/player/player.ts';
import { type CodeSource, needCode } from './code-source.ts';

/** Runs one round of a TV, for scripts. Throws on failure; a missing playlist is not a failure. */
export async function runOnce(player: Player, nextCode: CodeSource, nowMs: number): Promise<void> {
  if ((await player.load()).deviceId === undefined) {
    const code = await nextCode('new', undefined);
    if (code === undefined) throw needCode();
    await player.register(code);
  }
  await player.fetchConfig().catch((error) => {
    // On a 401 the player may have returned to its previous key; then one more try is due.
    if (
      error instanceof SignageError &&
      error.status === 401 &&
      player.state.deviceId !== undefined
    )
      return player.fetchConfig();
    throw error;
  });
  await player.fetchPlaylist().catch((error) => {
    if (!hasCode(error, 'playlist_not_found')) throw error;
  });
  player.report({ type: 'heartbeat', timestamp: Math.floor(nowMs / 1000) });
  while ((await player.flush()) > 0);
}
