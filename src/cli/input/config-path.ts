import type { SignageError } from '../../domain/error.ts';
import { changedNumbers } from '../../domain/json/changed-numbers.ts';
import { isObject } from '../../domain/json/is-object.ts';
import { looksSecret, usage } from './settings.ts';

/** A config, or a part of it. */
export type ConfigTree = Readonly<Record<string, unknown>>;

/** Parses a key such as `cachePolicy.maxSizeGB` into its names. `\.` is a dot within a name. */
export function readPath(text: string): string[] {
  const path = text.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  if (path.includes(''))
    throw usage(`A key has a form such as cachePolicy.maxSizeGB, not "${text}".`);
  return path;
}

/** Formats names as a key. The inverse of `readPath`. */
const pathText = (path: readonly string[]) =>
  path.map((name) => name.replaceAll('.', '\\.')).join('.');

const looksLikeJson = (text: string) => /^\s*[[{"]/.test(text);

/** Makes the error for JSON that PowerShell or cmd has passed on without its quotes. */
function notJson(text: string): SignageError {
  const shown = looksSecret(text) ? '' : `: ${text}`;
  return usage(
    `A value begins like JSON and is not JSON${shown}. Perhaps your shell removed the quotes, as PowerShell and cmd do.`,
    'Write each setting by itself, such as player.fit=cover, or put the JSON into a file: -f FILE.',
  );
}

/**
 * Parses a value as JSON. Text that is not JSON is a string, and so is a number that would be
 * written in another way: `1.10`, `0042`, `1e5`. Throws `usage` for JSON with a number that a
 * double cannot hold, and for text that begins like JSON and is none.
 */
function readValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'number' && String(value) !== text.trim()) return text;
    const [changed] = changedNumbers(text);
    if (!changed) return value;
  } catch {
    if (looksLikeJson(text)) throw notJson(text);
    return text;
  }
  throw usage(
    `A number in ${text} does not fit into a number of JSON: write it as text, in quotes.`,
  );
}

function notAssignment(text: string): SignageError {
  try {
    JSON.parse(text);
  } catch {
    return notJson(text);
  }
  return usage(
    'Settings are written key=value, not as JSON.',
    'Write player.fit=cover for {"player": {"fit": "cover"}}, or put the JSON into a file: -f FILE.',
  );
}

/** Whether `readValue` returns this text for itself. */
function readsAsItself(text: string): boolean {
  try {
    return readValue(text) === text;
  } catch {
    return false;
  }
}

/**
 * Parses `key=value` as a config.
 *
 * @example readAssignment('cachePolicy.maxSizeGB=20') // { cachePolicy: { maxSizeGB: 20 } }
 */
export function readAssignment(text: string): ConfigTree {
  if (looksLikeJson(text.replace(/^'/, ''))) throw notAssignment(text);
  const at = text.indexOf('=');
  if (at <= 0)
    throw usage(`A setting is written key=value, such as syncIntervalMinutes=10, not "${text}".`);
  const value = readValue(text.slice(at + 1));
  return readPath(text.slice(0, at)).reduceRight<unknown>(
    (inner, name) => Object.fromEntries([[name, inner]]),
    value,
  ) as ConfigTree;
}

/**
 * Merges two configs as the service merges config levels. Objects merge recursively. Any other
 * value of `over` replaces the value of `under`.
 */
export function mergeConfigTrees(under: ConfigTree, over: ConfigTree): ConfigTree {
  const merged = new Map(Object.entries(under));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isObject(value) && isObject(below) ? mergeConfigTrees(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/**
 * Returns the config without one key, and without objects that this leaves empty. Returns
 * `undefined` if the key does not exist.
 */
export function withoutKey(
  config: ConfigTree,
  [name = '', ...rest]: readonly string[],
): ConfigTree | undefined {
  if (!Object.hasOwn(config, name)) return undefined;
  const others = Object.entries(config).filter(([other]) => other !== name);
  if (rest.length === 0) return Object.fromEntries(others);
  const inner = config[name];
  const remaining = isObject(inner) ? withoutKey(inner, rest) : undefined;
  if (remaining === undefined) return undefined;
  return Object.keys(remaining).length === 0
    ? Object.fromEntries(others)
    : { ...config, ...Object.fromEntries([[name, remaining]]) };
}

/** A key and its value, as `config set` takes them. */
export interface Assignment {
  key: string;
  value: string;
}

/** Lists all keys of a config with their values. */
export function listAssignments(config: ConfigTree, parents: readonly string[] = []): Assignment[] {
  return Object.entries(config).flatMap(([name, value]) => {
    const path = [...parents, name];
    if (isObject(value) && Object.keys(value).length > 0) return listAssignments(value, path);
    return [
      {
        key: pathText(path),
        value: typeof value === 'string' && readsAsItself(value) ? value : JSON.stringify(value),
      },
    ];
  });
}
