import { usage } from '../options/settings.ts';

/** A config, or a part of it. */
export type ConfigTree = Readonly<Record<string, unknown>>;

export function isSettings(value: unknown): value is ConfigTree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members that lead to one setting: `cachePolicy.maxSizeGB`; a dot in a name is written `\.`. */
export function readPath(text: string): string[] {
  const path = text.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  if (path.includes(''))
    throw usage(`A key is written such as cachePolicy.maxSizeGB, not "${text}".`);
  return path;
}

/** The other way round. */
const pathText = (path: readonly string[]) =>
  path.map((name) => name.replaceAll('.', '\\.')).join('.');

/** A value as JSON; what is none is a text. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `key=value` as the config that it stands for: `cachePolicy.maxSizeGB=20` is `{ cachePolicy: { maxSizeGB: 20 } }`. */
export function readAssignment(text: string): ConfigTree {
  const at = text.indexOf('=');
  if (at <= 0)
    throw usage(`A setting is written key=value, such as syncIntervalMinutes=10, not "${text}".`);
  const value = readValue(text.slice(at + 1));
  return readPath(text.slice(0, at)).reduceRight<unknown>(
    (inner, name) => Object.fromEntries([[name, inner]]),
    value,
  ) as ConfigTree;
}

/** `over` laid over `under`, as the service lays its levels: objects merge, all else replaces. */
export function mergeSettings(under: ConfigTree, over: ConfigTree): ConfigTree {
  const merged = new Map(Object.entries(under));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isSettings(value) && isSettings(below) ? mergeSettings(below, value) : value);
  }
  return Object.fromEntries(merged);
}

/** The settings without one of them, and without what is empty for it; `undefined` when it is not there. */
export function withoutSetting(
  settings: ConfigTree,
  [name = '', ...rest]: readonly string[],
): ConfigTree | undefined {
  if (!Object.hasOwn(settings, name)) return undefined;
  const others = Object.entries(settings).filter(([other]) => other !== name);
  if (rest.length === 0) return Object.fromEntries(others);
  const inner = settings[name];
  const left = isSettings(inner) ? withoutSetting(inner, rest) : undefined;
  if (left === undefined) return undefined;
  return Object.keys(left).length === 0
    ? Object.fromEntries(others)
    : { ...settings, ...Object.fromEntries([[name, left]]) };
}

/** One setting as it is typed. */
export interface Assignment {
  key: string;
  value: string;
}

/** Every setting by itself. */
export function listSettings(settings: ConfigTree, above: readonly string[] = []): Assignment[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const path = [...above, name];
    if (isSettings(value) && Object.keys(value).length > 0) return listSettings(value, path);
    return [
      { key: pathText(path), value: typeof value === 'string' ? value : JSON.stringify(value) },
    ];
  });
}
