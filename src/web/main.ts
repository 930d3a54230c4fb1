import './shims.ts';
import { blockThread } from './isolation.ts';
import { startPlayer } from './start-player.ts';

// Only the player itself loads its script in a frame: its page forbids frames.
if (window.parent !== window) blockThread();
// Until the player shows its own errors, engine.js shows why the player does not start.
else if (!document.documentElement.hasAttribute('data-too-old')) {
  document.documentElement.setAttribute('data-started', '');
  void startPlayer();
}
