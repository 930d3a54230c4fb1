import { minuteMs } from '../../domain/clock.ts';
import type { Player } from '../../player/assembly/player.ts';
import type { ScreenStage } from '../stage/screen-stage.ts';

/**
 * Lets nothing play while the page is hidden, such as while the display is off. Calls `onRest` each
 * minute meanwhile, when nobody sees a reload.
 */
export function restWhileHidden(
  player: Pick<Player, 'setHidden'>,
  stage: Pick<ScreenStage, 'silence'>,
  onRest: () => void,
): void {
  const note = () => {
    player.setHidden(document.hidden);
    if (document.hidden) stage.silence();
  };
  document.addEventListener('visibilitychange', note);
  note();
  setInterval(() => {
    if (document.hidden) onRest();
  }, minuteMs);
}
