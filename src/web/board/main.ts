import { secondMs } from '../../domain/clock.ts';
import type { BoardState } from '../../domain/conditions/board-state.ts';
import { span } from '../../domain/duration.ts';
import { ConditionButtons, headline, worstTone } from './banner.ts';
import { followBoard } from './follow-board.ts';
import { Wall } from './wall.ts';

const byId = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

const filter = byId<HTMLInputElement>('filter');
const nothing = byId('nothing');
const wall = new Wall(byId('wall'));
const conditions = new ConditionButtons(byId('conditions'), applyFilter);

let state: BoardState | undefined;
let receivedMs = 0;
/** The time on this machine when the state was read. */
let knownAt = '';
/** What is wrong with the page itself. */
let trouble: string | undefined;

/** Age of the state. The clock of this machine may be wrong, so it only measures. */
const ageMs = () => (state?.ageMs ?? 0) + performance.now() - receivedMs;

/** Sets a text only if it differs: a live region would read it again. */
function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = text === '';
}

function applyFilter(): void {
  const words = filter.value.toLowerCase().split(/\s+/);
  const { chosen } = conditions;
  const shown = wall.filter(
    ({ tile, words: text }) =>
      (chosen === undefined || tile.condition === chosen) &&
      words.every((word) => text.includes(word)),
  );
  const isEmpty = state !== undefined && state.tiles.length > 0 && shown === 0;
  write(nothing, isEmpty ? 'No screen matches the filter. Esc clears it.' : '');
}

/** Says what is wrong with the board itself, and how old the data are. */
function drawTrouble(): void {
  const problem = trouble ?? state?.problem ?? '';
  const isOld = problem !== '' && state !== undefined;
  const known = isOld ? ` The board shows what was known at ${knownAt}.` : '';
  document.body.classList.toggle('old', isOld);
  write(byId('problem'), `${problem}${problem === '' ? '' : known}`);
  // Not in the alert, which would be read out each time.
  write(byId('age'), isOld ? `${span(ageMs())} ago` : '');
}

function tick(): void {
  drawTrouble();
  if (state) wall.tick(Date.parse(state.at) + ageMs());
}

function draw(now: BoardState): void {
  const { tiles } = now;
  state = now;
  receivedMs = performance.now();
  knownAt = new Date(Date.now() - now.ageMs).toLocaleTimeString();
  trouble = undefined;
  wall.show(tiles);
  conditions.show(tiles);
  applyFilter();
  const text = headline(tiles);
  write(byId('headline'), text);
  const tone = worstTone(tiles);
  document.body.dataset.tone = tone;
  document.title = `${text} – signage`;
  tick();
}

function clearFilter(): void {
  filter.value = '';
  conditions.chosen = undefined;
  if (state) conditions.show(state.tiles);
  applyFilter();
}

filter.addEventListener('input', applyFilter);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') return void clearFilter();
  if (event.key !== '/' || event.target === filter) return;
  event.preventDefault();
  filter.focus();
});
setInterval(tick, secondMs);
void followBoard({
  onState: draw,
  onSilence() {
    trouble = 'The program signage board does not answer.';
    tick();
  },
  onEnd(reason) {
    trouble = reason;
    tick();
  },
});
