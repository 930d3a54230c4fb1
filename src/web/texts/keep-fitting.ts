const step = 0.95;
const smallest = 0.2;

/** Whether a child of a screen reaches beyond its edge, or has a word that is wider than itself. */
const isCut = (root: HTMLElement) =>
  ([...root.children] as HTMLElement[]).some(
    ({ offsetTop: top, offsetHeight, offsetWidth, scrollWidth, clientWidth }) =>
      top < 0 ||
      top + offsetHeight > root.clientHeight ||
      offsetWidth > root.clientWidth ||
      (clientWidth > 0 && scrollWidth > clientWidth),
  );

/** Makes all sizes of a screen, in units of `--unit`, smaller while its texts do not fit. */
export function keepFitting(root: HTMLElement): void {
  const fit = () => {
    for (let scale = 1; scale > smallest; scale *= step) {
      root.style.setProperty('--unit', `${scale}vmin`);
      if (!isCut(root)) return;
    }
  };
  const filter = { attributeFilter: ['class', 'hidden'], childList: true, characterData: true };
  new MutationObserver(fit).observe(root, { ...filter, subtree: true });
  window.addEventListener('resize', fit);
}
