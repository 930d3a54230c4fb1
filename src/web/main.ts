import './shims.ts';
import { startPlayer } from './start-player.ts';

// From here on, the player shows its own errors: see engine.js.
document.documentElement.setAttribute('data-started', '');
void startPlayer();
