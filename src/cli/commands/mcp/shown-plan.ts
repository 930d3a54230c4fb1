import { sep } from 'node:path';
import type { Flags } from '../../input/settings.ts';
import { shellQuote } from '../../terminal/text.ts';
import { bodyOf, type ChangePlan, describeReplaced } from './plan-change.ts';
import type { CommandCall } from './run-commands.ts';
import { maxRecords } from './tool-results.ts';

/** Returns the words of options that are given. */
export function optionWords(flags: Flags): string[] {
  const dashed = (name: string) => name.replaceAll(/[A-Z]/g, (one) => `-${one.toLowerCase()}`);
  return Object.entries(flags).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((one) => one !== undefined)
      .flatMap((one) => [`--${dashed(name)}`, ...(one === true ? [] : [String(one)])]),
  );
}

/** Writes a command as a line for a shell. Files of `folder` have only their names. */
export function lineOf(
  { words, given = [], flags = {}, stdin }: CommandCall,
  folder: string,
): string {
  const options = optionWords(flags).map((word) => shellQuote(word));
  const args = given.flat().map((one) => shellQuote(String(one).replace(`${folder}${sep}`, '')));
  const input = stdin === undefined ? [] : ['<', 'document.json'];
  return [
    'signage',
    ...words.filter((one) => one !== undefined),
    ...args,
    ...options,
    ...input,
  ].join(' ');
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

/** Returns a plan as it is shown to the model and the user. */
export function planShown(plan: ChangePlan) {
  const bodies = plan.requests.map(bodyOf);
  const end = bodies.map(({ until, validUntil }) => until ?? validUntil).find(Boolean);
  const items = bodies.find((body) => body.items)?.items ?? [];
  const entries = bodies.find((body) => body.entries)?.entries ?? [];
  const { screens, replaced, requests } = plan;
  return {
    screens: screens.slice(0, maxRecords).map(({ id, name, screen }) => {
      return { screen: name, id, hasTv: screen.deviceId !== null };
    }),
    count: screens.length,
    tvs: screens.filter(({ screen }) => screen.deviceId !== null).length,
    replaces: replaced.slice(0, maxRecords).map((one) => {
      const reported = one.kind === 'claim' ? { reportedByTv: one.value } : {};
      return { of: `${one.kind} of ${one.name}`, now: describeReplaced(one), ...reported };
    }),
    after: [
      ...items.map(({ name, creativeUrl, duration }) => `${name ?? creativeUrl}, ${duration} s`),
      ...entries.map(({ name }, at) => `entry ${name ?? at + 1}`),
      ...bodies.flatMap(({ action }) => (action === 'rollback' ? ['the earlier version'] : [])),
    ].slice(0, maxRecords),
    ends: end ? iso(end) : null,
    requests: requests
      .map(({ method, path }) => `${method} ${path.split('?')[0]}`)
      .slice(0, maxRecords),
  };
}
