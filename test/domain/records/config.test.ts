import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ConfigBody,
  configBody,
  defaultConfig,
  effectiveConfig,
  isOnline,
  mergedConfigs,
  withoutLevel,
} from '../../../src/domain/records/config.ts';

const names = fc.constantFrom(
  'syncIntervalMinutes',
  'cachePolicy',
  'maxSizeGB',
  'app',
  'constructor',
  'a',
);
const { tree: level } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.constant(null),
    fc.array(fc.integer()),
    tie('tree'),
  ),
  tree: fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));
const configs = level as fc.Arbitrary<ConfigBody>;

describe('effectiveConfig', () => {
  it('returns the default when nothing is stored', () => {
    expect(effectiveConfig([])).toEqual(defaultConfig);
    expect(effectiveConfig([undefined, undefined, undefined])).toEqual(defaultConfig);
    expect(effectiveConfig([{}])).toEqual(defaultConfig);
  });

  it('merges objects, and replaces arrays and scalars', () => {
    const levels: ConfigBody[] = [
      { cachePolicy: { maxSizeGB: 20 }, app: { list: [1, 2], theme: { dark: true, hue: 1 } } },
      { syncIntervalMinutes: 15, app: { list: [3], theme: { hue: 2 } } },
      { cachePolicy: { retentionDays: 1 }, app: { theme: null } },
    ];
    expect(effectiveConfig(levels)).toEqual({
      syncIntervalMinutes: 15,
      heartbeatIntervalMinutes: 1,
      cachePolicy: { maxSizeGB: 20, retentionDays: 1 },
      app: { list: [3], theme: null },
    });
  });

  it('returns for every member the value of the most specific level that has it', () => {
    const leaves = (value: unknown, path: string[] = []): [string[], unknown][] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]))
        : [[path, value]];
    const at = (value: unknown, path: string[]): unknown =>
      path.reduce<unknown>(
        (of, name) => (of as Record<string, unknown> | undefined)?.[name],
        value,
      );
    fc.assert(
      fc.property(configs, configs, (under, over) => {
        const merged = effectiveConfig([under, over]);
        for (const [path, value] of leaves(over)) expect(at(merged, path)).toEqual(value);
        expect(effectiveConfig([under, over, over])).toEqual(merged);
        expect(effectiveConfig([effectiveConfig([under]), over])).toEqual(merged);
      }),
    );
  });

  it('changes neither the default nor the levels', () => {
    const [before, text] = [
      structuredClone(defaultConfig),
      '{"cachePolicy":{"maxSizeGB":1},"app":{"a":1}}',
    ];
    const under = JSON.parse(text);
    const merged = effectiveConfig([under, { app: { b: 2 }, cachePolicy: { retentionDays: 2 } }]);
    expect(merged.cachePolicy).toEqual({ maxSizeGB: 1, retentionDays: 2 });
    expect(JSON.stringify(under)).toBe(text);
    expect(defaultConfig).toEqual(before);
  });
});

describe('isOnline', () => {
  const tenMinutes = 10 * 60_000;

  it('is true for twice the larger of the two intervals after the device was seen', () => {
    expect(isOnline('bound', 1000, defaultConfig, 1000 + tenMinutes)).toBe(true);
    expect(isOnline('bound', 1000, defaultConfig, 1001 + tenMinutes)).toBe(false);
    const longHeartbeat = { ...defaultConfig, heartbeatIntervalMinutes: 7.5 };
    expect(isOnline('bound', 0, longHeartbeat, 15 * 60_000)).toBe(true);
    expect(isOnline('bound', 0, longHeartbeat, 15 * 60_000 + 1)).toBe(false);
  });

  it('is false for a device that is suspended, or was never seen', () => {
    expect(isOnline('suspended', 1000, defaultConfig, 1000)).toBe(false);
    expect(isOnline('bound', undefined, defaultConfig, 1000)).toBe(false);
  });
});

describe('a stored config', () => {
  it.each([
    {},
    {
      syncIntervalMinutes: 1,
      heartbeatIntervalMinutes: 1440,
      cachePolicy: { maxSizeGB: 0.1, retentionDays: 0.5, more: [] },
      more: { a: null },
    },
  ])('may be %j', (value) => expect(configBody.parse(value)).toEqual(value));

  it.each([
    [{ syncIntervalMinutes: 0 }, 'syncIntervalMinutes'],
    [{ syncIntervalMinutes: 1441 }, 'syncIntervalMinutes'],
    [{ heartbeatIntervalMinutes: '5' }, 'heartbeatIntervalMinutes'],
    [{ heartbeatIntervalMinutes: null }, 'heartbeatIntervalMinutes'],
    [{ cachePolicy: [] }, 'cachePolicy'],
    [{ cachePolicy: { maxSizeGB: 0 } }, 'cachePolicy/maxSizeGB'],
    [{ cachePolicy: { retentionDays: -1 } }, 'cachePolicy/retentionDays'],
    [[], ''],
  ])('may not be %j', (value, path) => {
    expect(configBody.safeParse(value).error?.issues.map((issue) => issue.path.join('/'))).toEqual([
      path,
    ]);
  });
});

describe('withoutLevel', () => {
  const visible = (ofTenant: ConfigBody, ...own: ConfigBody[]) =>
    withoutLevel(effectiveConfig([ofTenant, ...own]), ofTenant, mergedConfigs(own));

  it('keeps what other levels and the default say, also within objects', () => {
    const ofTenant = { cachePolicy: { retentionDays: 91 }, app: { secret: 1, hue: 2 }, list: [1] };
    const ofVenue = { cachePolicy: { maxSizeGB: 20 }, app: { hue: 3 } };
    expect(visible(ofTenant, ofVenue)).toEqual({
      syncIntervalMinutes: 5,
      heartbeatIntervalMinutes: 1,
      cachePolicy: { maxSizeGB: 20 },
      app: { hue: 3 },
    });
    expect(visible({}, ofVenue)).toEqual(effectiveConfig([ofVenue]));
  });

  it('never has a value that the config would not have without the level', () => {
    const subset = (part: unknown, whole: unknown): boolean =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.entries(part).every(
            ([name, value]) =>
              typeof whole === 'object' &&
              whole !== null &&
              Object.hasOwn(whole, name) &&
              subset(value, (whole as Record<string, unknown>)[name]),
          )
        : JSON.stringify(part) === JSON.stringify(whole);
    fc.assert(
      fc.property(configs, configs, configs, (ofTenant, ofVenue, ofScreen) =>
        subset(visible(ofTenant, ofVenue, ofScreen), effectiveConfig([ofVenue, ofScreen])),
      ),
    );
  });
});
