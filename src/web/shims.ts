// Polyfills for Chromium 63 to 119. Must be imported before all other modules.

/** An `AbortController` for Chromium 63 to 65, with a `fetch` that rejects when a signal aborts. */
function shimAbortController(): void {
  class Signal {
    aborted = false;
    reason: unknown;
    onabort = null;
    readonly #target = document.createDocumentFragment();

    addEventListener(
      type: string,
      listener: EventListener,
      options?: AddEventListenerOptions,
    ): void {
      this.#target.addEventListener(type, listener, options);
    }

    removeEventListener(type: string, listener: EventListener): void {
      this.#target.removeEventListener(type, listener);
    }

    dispatchEvent(event: Event): boolean {
      return this.#target.dispatchEvent(event);
    }

    throwIfAborted(): void {
      if (this.aborted) throw this.reason;
    }
  }

  class Controller {
    readonly signal = new Signal();

    abort(reason: unknown = new DOMException('Aborted', 'AbortError')): void {
      if (this.signal.aborted) return;
      this.signal.aborted = true;
      this.signal.reason = reason;
      this.signal.dispatchEvent(new Event('abort'));
    }
  }

  const send = window.fetch.bind(window);
  const rejectOnAbort = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  window.fetch = (input, { signal, ...init } = {}) =>
    signal ? Promise.race([send(input, init), rejectOnAbort(signal)]) : send(input, init);
  Object.assign(window, { AbortController: Controller, AbortSignal: Signal });
}

function define(target: object, name: string, value: unknown): void {
  if (name in target) return;
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}

function flat(this: unknown[]): unknown[] {
  return this.reduce<unknown[]>((all, one) => all.concat(one), []);
}

function flatMap(this: unknown[], work: (one: unknown, index: number) => unknown): unknown[] {
  return flat.call(this.map((one, index) => work(one, index)));
}

function at(this: unknown[], index: number): unknown {
  return this[index < 0 ? this.length + index : index];
}

function replaceAll(this: string, search: string | RegExp, replacement: string): string {
  if (typeof search === 'string') return this.split(search).join(replacement);
  return this.replace(search, replacement);
}

function fromEntries(entries: Iterable<[string, unknown]>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of entries) result[name] = value;
  return result;
}

function hasOwn(target: object, name: string): boolean {
  return Object.getOwnPropertyDescriptor(target, name) !== undefined;
}

function canParse(url: string, base?: string): boolean {
  try {
    return Boolean(new URL(url, base));
  } catch {
    return false;
  }
}

define(window, 'globalThis', window);
define(window, 'queueMicrotask', (work: () => void) => void Promise.resolve().then(work));
define(Array.prototype, 'flat', flat);
define(Array.prototype, 'flatMap', flatMap);
define(Array.prototype, 'at', at);
define(String.prototype, 'replaceAll', replaceAll);
define(Object, 'fromEntries', fromEntries);
define(Object, 'hasOwn', hasOwn);
define(URL, 'canParse', canParse);
if (!('AbortController' in window)) shimAbortController();
