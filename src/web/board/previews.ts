import type { Tile } from './tile.ts';

const maxPreviews = 40;
/** Most videos begin with a black frame. */
const frameSeconds = 0.5;

function addMedia(box: Element, { url, type }: { url: string; type: 'image' | 'video' }): void {
  const media = document.createElement(type === 'image' ? 'img' : 'video');
  if (media instanceof HTMLImageElement) {
    media.alt = '';
    media.referrerPolicy = 'no-referrer';
    media.src = url;
  } else {
    media.muted = true;
    media.preload = 'metadata';
    media.src = `${url.replace(/#.*$/, '')}#t=${frameSeconds}`;
  }
  media.addEventListener('error', () => {
    media.remove();
    box.classList.add('failed');
  });
  box.append(media);
}

function removeMedia(box: Element): void {
  const media = box.firstElementChild;
  // A video without a source frees its decoder.
  media?.removeAttribute('src');
  if (media instanceof HTMLVideoElement) media.load();
  media?.remove();
}

/** Loads what plays for the tiles that can be seen, at most 40 at a time, the worst first. */
export class Previews {
  readonly #visible = new Set<Element>();
  readonly #observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) this.#visible.add(target);
      else this.#visible.delete(target);
    this.#apply();
  });
  #tiles: readonly Tile[] = [];

  add({ element }: Tile): void {
    this.#observer.observe(element);
  }

  remove({ element }: Tile): void {
    this.#observer.unobserve(element);
    this.#visible.delete(element);
  }

  /** Takes the tiles in their order on the page. */
  update(tiles: readonly Tile[]): void {
    this.#tiles = tiles;
    this.#apply();
  }

  #apply(): void {
    let left = maxPreviews;
    for (const { element, tile } of this.#tiles) {
      const box = element.querySelector('.preview');
      if (!box || !tile.preview) continue;
      const isShown = this.#visible.has(element) && left > 0;
      if (isShown) left--;
      if (!isShown) removeMedia(box);
      else if (!box.firstElementChild && !box.classList.contains('failed'))
        addMedia(box, tile.preview);
    }
  }
}
