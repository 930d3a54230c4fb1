import './shims.ts';
import { startPlayer } from './start-player.ts';

// Until the player shows its own errors, engine.js shows why the player does not start.
if (!document.documentElement.hasAttribute('data-too-old')) {
  document.documentElement.setAttribute('data-started', '');
  void startPlayer();
}
