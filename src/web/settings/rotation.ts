import { readJson, writeJson } from '../recovery/reload.ts';

const itemName = 'signage-player-rotation';
const inFragment = /&rotate=(0|90|180|270)$|\brotate=(0|90|180|270)(?:&|$)/;

/**
 * The rotation of the page, for panels that hang upright: clockwise, in degrees. The config decides
 * it. Without a setting, it is that of the last fragment such as `#rotate=90`, kept in the
 * storage.
 */
export class Rotation {
  readonly #storage: Storage;
  #configured: number | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
    window.addEventListener('hashchange', () => this.#takeFragment());
    this.#takeFragment();
  }

  /** Uses the rotation of the config, if it has one. */
  use(configured: number | undefined): void {
    this.#configured = configured;
    const degrees = configured ?? Number(readJson(this.#storage, itemName) ?? 0);
    document.documentElement.setAttribute('data-rotate', String(degrees));
    // The texts must fit into the other format.
    window.dispatchEvent(new Event('resize'));
  }

  /** Keeps the rotation of the URL, and removes it there. The rest of the fragment stays. */
  #takeFragment(): void {
    const [part, last, first] = inFragment.exec(location.hash) ?? [];
    if (part !== undefined) {
      writeJson(this.#storage, itemName, Number(last ?? first));
      const { pathname, search, hash } = location;
      history.replaceState(null, '', pathname + search + hash.replace(part, '').replace(/^#$/, ''));
    }
    this.use(this.#configured);
  }
}
