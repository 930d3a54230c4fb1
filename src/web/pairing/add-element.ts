/** Appends a new element with a class and a text. */
export function addElement<K extends keyof HTMLElementTagNameMap>(
  parent: HTMLElement,
  tag: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  parent.append(element);
  return element;
}

/** Appends a button that submits no form. */
export function addButton(
  parent: HTMLElement,
  className: string,
  text: string,
  onClick: () => void,
): HTMLButtonElement {
  const button = addElement(parent, 'button', className, text);
  button.type = 'button';
  button.addEventListener('click', onClick);
  return button;
}
