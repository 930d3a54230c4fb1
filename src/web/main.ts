import './shims.ts';
import { secondMs } from '../domain/clock.ts';
import { blockThread } from './isolation.ts';
import { checkFragment, loadCheck } from './page-files.ts';
import { PagePlayer } from './page-player.ts';
import { Language } from './texts/language.ts';
import { fill } from './texts/phrase.ts';

const retryMs = 30 * secondMs;

/** Starts the web player on this page. Reloads the page later if the player cannot start. */
async function startPlayer(): Promise<void> {
  try {
    await new PagePlayer().run();
  } catch (error) {
    const panel = document.getElementById('panel') as HTMLElement;
    const { message: reason } = error as Error;
    const language = new Language();
    language.write(panel, ({ storage }) => fill(storage, { reason }));
    void language.use(navigator.language);
    panel.hidden = false;
    setTimeout(() => location.reload(), retryMs);
  }
}

const isTooOld = document.documentElement.hasAttribute('data-too-old');
// Only the player itself loads its script in a frame: its page forbids frames.
if (window.parent !== window) blockThread();
else if (!isTooOld && location.hash === checkFragment) loadCheck();
// Until the player shows its own errors, engine.js shows why the player does not start.
else if (!isTooOld) {
  document.documentElement.setAttribute('data-started', '');
  void startPlayer();
}
