import { describe, expect, it } from 'vitest';
import { decorateStore } from '../../src/service/store-decorator.ts';

class Store {
  readonly name = 'embedded';
  #rows = 2;

  get size(): number {
    return this.#rows;
  }

  add(): number {
    return ++this.#rows;
  }

  doubled(): number {
    return 2 * this.size;
  }
}

class Larger extends Store {
  override add(): number {
    return super.add() + 100;
  }
}

describe('a decorated object', () => {
  it('has the other members of its target, including access to private ones', () => {
    const target = new Larger();
    const { add } = decorateStore<Store>(target, {});
    expect([add(), add(), target.size]).toEqual([103, 104, 4]);
    expect(decorateStore(target, {}).name).toBe('embedded');
  });

  it('replaces members, and leaves the target unchanged', () => {
    const target = new Store();
    const other = decorateStore(target, { add: () => 0 });
    expect([other.add(), target.add(), other.doubled()]).toEqual([0, 3, 6]);
  });

  it('can be decorated again', () => {
    const target = new Store();
    const twice = decorateStore(decorateStore(target, { add: () => 7 }), { doubled: () => 8 });
    expect([twice.add(), twice.doubled(), twice.name]).toEqual([7, 8, 'embedded']);
  });
});
