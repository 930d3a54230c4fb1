import './shims.ts';
import { startPlayer } from './start-player.ts';

// engine.js shows why the player does not start, until the player shows its own errors.
if (!document.documentElement.hasAttribute('data-too-old')) {
  document.documentElement.setAttribute('data-started', '');
  void startPlayer();
}
