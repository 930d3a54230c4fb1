import { hasCode, SignageError } from '../../domain/error.ts';
import type { Player } from '../../simulator/player/player.ts';
import { type CodeSource, needCode } from './code-source.ts';

/** One round of a TV, for scripts: what fails is thrown. That there is no playlist is no failure. */
export async function runOnce(player: Player, nextCode: CodeSource, nowMs: number): Promise<void> {
  if ((await player.load()).deviceId === undefined) {
    const code = await nextCode('new', undefined);
    if (code === undefined) throw needCode();
    await player.register(code);
  }
  await player.fetchConfig().catch((error) => {
    // It went back to its former key, or to its other id.
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
