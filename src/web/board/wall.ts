import type { BoardTile } from '../../domain/conditions/board-state.ts';
import { addElement } from '../pairing/add-element.ts';
import { tileWidth } from './fit.ts';
import { Previews } from './previews.ts';
import { Tile } from './tile.ts';

interface VenueSection {
  section: HTMLElement;
  heading: HTMLElement;
  list: HTMLElement;
}

/** Puts an element at its place among its siblings. Leaves it alone if it is there. */
function place(parent: HTMLElement, element: HTMLElement, before: Element | null): void {
  if (element.parentElement !== parent || element.nextElementSibling !== before)
    parent.insertBefore(element, before);
}

/** Orders children from the last to the first, so that most stay where they are. */
function arrange(parent: HTMLElement, children: readonly HTMLElement[]): void {
  let next: Element | null = null;
  for (const child of [...children].reverse()) {
    place(parent, child, next);
    next = child;
  }
}

/** The tiles, grouped by venue: the worst venue first, and in it the worst screen. */
export class Wall {
  readonly #root: HTMLElement;
  readonly #tiles = new Map<string, Tile>();
  readonly #venues = new Map<string, VenueSection>();
  readonly #previews = new Previews();

  constructor(root: HTMLElement) {
    this.#root = root;
    addEventListener('resize', () => this.#fit());
  }

  show(tiles: readonly BoardTile[]): void {
    // An element that moves loses the focus.
    const focused = document.activeElement?.closest('.tile');
    this.#draw(tiles);
    if (focused?.isConnected && !focused.contains(document.activeElement))
      focused.querySelector('button')?.focus({ preventScroll: true });
  }

  #draw(tiles: readonly BoardTile[]): void {
    const byVenue = new Map<string, BoardTile[]>();
    for (const tile of tiles) {
      const others = byVenue.get(tile.venueId);
      if (others) others.push(tile);
      else byVenue.set(tile.venueId, [tile]);
    }
    this.#removeOthers(new Set(tiles.map(({ id }) => id)), byVenue);
    for (const [id, some] of byVenue) {
      const { list, heading } = this.#venueOf(id);
      heading.textContent = some[0]?.venue ?? '';
      arrange(
        list,
        some.map((tile) => this.#tileOf(tile).element),
      );
    }
    arrange(
      this.#root,
      [...byVenue.keys()].map((id) => this.#venueOf(id).section),
    );
    this.#previews.update(
      [...byVenue.values()].flatMap((some) => some.map((tile) => this.#tileOf(tile))),
    );
  }

  #removeOthers(ids: ReadonlySet<string>, venues: ReadonlyMap<string, unknown>): void {
    for (const [id, tile] of this.#tiles) {
      if (ids.has(id)) continue;
      this.#previews.remove(tile);
      tile.element.remove();
      this.#tiles.delete(id);
    }
    for (const [id, { section }] of this.#venues) {
      if (venues.has(id)) continue;
      section.remove();
      this.#venues.delete(id);
    }
  }

  #venueOf(id: string): VenueSection {
    const known = this.#venues.get(id);
    if (known) return known;
    const section = addElement(this.#root, 'section', 'venue');
    const heading = addElement(section, 'h2', '');
    heading.id = `venue-${id}`;
    section.setAttribute('aria-labelledby', heading.id);
    const list = addElement(section, 'ul', 'tiles');
    // Safari takes the role from a list without markers.
    list.setAttribute('role', 'list');
    const venue = { section, heading, list };
    this.#venues.set(id, venue);
    return venue;
  }

  #tileOf(tile: BoardTile): Tile {
    const known = this.#tiles.get(tile.id);
    known?.show(tile);
    if (known) return known;
    const made = new Tile(tile);
    this.#tiles.set(tile.id, made);
    this.#previews.add(made);
    return made;
  }

  /** Shows only tiles that pass. Returns how many do. */
  filter(passes: (tile: Tile) => boolean): number {
    let count = 0;
    const open = new Set<Element | null>();
    for (const tile of this.#tiles.values()) {
      const isShown = passes(tile);
      tile.element.hidden = !isShown;
      if (!isShown) continue;
      count++;
      open.add(tile.element.closest('section'));
    }
    for (const { section } of this.#venues.values()) section.hidden = !open.has(section);
    this.#fit();
    return count;
  }

  /** Makes the tiles as wide as they can be with all of them on the screen. */
  #fit(): void {
    const counts: number[] = [];
    for (const { section, list } of this.#venues.values()) {
      const count = [...list.children].filter((one) => !(one as HTMLElement).hidden).length;
      section.style.setProperty('--count', String(count));
      if (count > 0) counts.push(count);
    }
    const { paddingLeft, paddingTop, columnGap } = getComputedStyle(this.#root);
    const width = tileWidth(counts, {
      width: this.#root.clientWidth - 2 * Number.parseFloat(paddingLeft),
      height: innerHeight - this.#root.offsetTop - 2 * Number.parseFloat(paddingTop),
      gap: Number.parseFloat(columnGap),
      rem: Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
      hasPictures: this.#root.querySelector('.preview:not(.failed)') !== null,
    });
    this.#root.style.setProperty('--tile', `${width}px`);
  }

  tick(nowMs: number): void {
    for (const tile of this.#tiles.values()) tile.tick(nowMs);
  }
}
