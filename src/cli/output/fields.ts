import { usage } from '../input/settings.ts';
import type { Column } from './view.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function at(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    record,
  );
}

/** Parses the paths of `--fields`: `id,labels.floor`. Throws `usage` for an empty name. */
export function readFields(text: string): string[] {
  const paths = text.split(',').map((path) => path.trim());
  if (paths.some((path) => path === '' || path.split('.').includes(''))) {
    throw usage(
      `--fields takes paths separated by commas, such as id,name,labels.floor, not "${text}".`,
    );
  }
  return paths;
}

/**
 * Throws `usage` for a field that the record lacks, because a typo must not show an empty column.
 * Checks only the first name of a path, because maps such as labels may have any key.
 */
export function checkFields(record: unknown, paths: readonly string[]): void {
  if (!isObject(record)) return;
  const unknown = paths.find((path) => !Object.hasOwn(record, path.split('.')[0] ?? ''));
  if (unknown !== undefined)
    throw usage(`Unknown field "${unknown}". Choose from: ${Object.keys(record).join(', ')}.`);
}

function put(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    Object.defineProperty(into, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return;
  }
  if (!Object.hasOwn(into, name)) put(into, [name], {});
  const next = into[name];
  if (isObject(next)) put(next, rest, value);
}

/**
 * Returns the record reduced to these members, in this order. Missing members become `null`.
 *
 * @example
 * pickFields({ id: 1, labels: { floor: '2' } }, ['labels.floor']) // { labels: { floor: '2' } }
 */
export function pickFields(record: unknown, paths: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const path of paths) put(picked, path.split('.'), at(record, path.split('.')) ?? null);
  return picked;
}

/** A path is a dotted member name, such as `device.id`. */
export function fieldColumns(paths: readonly string[]): Column<unknown>[] {
  return paths.map((path) => ({ name: path, value: (record) => at(record, path.split('.')) }));
}
