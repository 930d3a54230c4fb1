import type { Page } from 'playwright-core';

/**
 * Returns what is cut or overlaps below an element: each box that reaches beyond its parent or the
 * viewport, has more text than room, or lies over a neighbour. Empty if all can be read.
 */
export const boxFaults = (page: Page, root: string): Promise<string[]> =>
  page.evaluate(`(() => {
    const root = document.querySelector('${root}');
    const faults = [];
    const name = (element) => (element.className || element.tagName) + ' "' + element.textContent.slice(0, 40) + '"';
    const boxOf = (element) => element.getBoundingClientRect();
    const isInside = (box, around) =>
      box.left >= around.left - 1 && box.top >= around.top - 1 &&
      box.right <= around.right + 1 && box.bottom <= around.bottom + 1;
    const areOver = (one, other) =>
      Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
      Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
    const shown = [...root.querySelectorAll('*')].filter((one) => one.getClientRects().length > 0);
    if (shown.length === 0) faults.push('nothing is shown');
    const viewport = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    for (const element of shown) {
      const box = boxOf(element);
      if (!isInside(box, boxOf(element.parentElement))) faults.push('beyond its parent: ' + name(element));
      if (!isInside(box, viewport)) faults.push('beyond the screen: ' + name(element));
      if (element.scrollWidth > element.clientWidth + 1) faults.push('too wide: ' + name(element));
    }
    const leaves = shown.filter((one) => one.childElementCount === 0);
    for (const [at, one] of leaves.entries())
      for (const other of leaves.slice(at + 1))
        if (areOver(boxOf(one), boxOf(other))) faults.push(name(one) + ' over ' + name(other));
    return faults;
  })()`);
