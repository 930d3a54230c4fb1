import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { startService } from '../../support/service/service.ts';

const folder = fileURLToPath(new URL('../../../docs/monitoring/', import.meta.url));
const deployPage = fileURLToPath(new URL('../../../docs/deploy.md', import.meta.url));

interface Rule {
  alert: string;
  expr: string;
  annotations: Record<string, string>;
}

const rules: Rule[] = parse(readFileSync(`${folder}alerts.yml`, 'utf8')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const board = JSON.parse(readFileSync(`${folder}grafana.json`, 'utf8'));
const panels: { title: string; targets: { expr: string }[] }[] = board.panels;
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

const hasPromtool = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** The names of metrics in a text. */
const namesIn = (text: string) => [...new Set(text.match(/\bsignage_\w+/g) ?? [])];

describe('docs/monitoring', () => {
  let scrape: string;
  beforeAll(async () => {
    const service = await startService({
      store: await temporaryFolder(),
      onDemand: async () => null,
    });
    const tv = await service.tv();
    await tv.send('GET', 'playlist', { key: tv.apiKey });
    scrape = (await service.send('GET', '/metrics')).text;
  });
  const samplesOf = (name: string) =>
    scrape.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

  it('has only the alert rules and the board', () => {
    expect(readdirSync(folder).toSorted()).toEqual(['alerts.yml', 'grafana.json']);
    expect(rules.length).toBeGreaterThan(5);
    expect(panels.length).toBeGreaterThan(5);
  });

  it.each(expressions)('%s uses only metrics and labels of a scrape: %s', (_, expr) => {
    const names = namesIn(expr);
    if (!expr.includes('up{')) expect(names).not.toEqual([]);
    for (const name of names) expect([name, samplesOf(name).length > 0]).toEqual([name, true]);
    for (const [, name = '', matchers = ''] of expr.matchAll(/\b(signage_\w+)\{([^}]*)\}/g))
      for (const [, label] of matchers.matchAll(/(\w+)=/g))
        expect(samplesOf(name).every((line) => line.includes(`${label}="`))).toBe(true);
  });

  it('has its metrics in the table of docs/deploy.md', () => {
    const page = readFileSync(deployPage, 'utf8');
    const alerted = namesIn(rules.map(({ expr }) => expr).join(' '));
    for (const name of alerted) expect(page).toContain(`\`${name.replace(/_bucket$/, '')}`);
    for (const name of namesIn(page)) expect(scrape).toContain(`# TYPE ${name} `);
  });

  it('tells for each alert what to do', () => {
    for (const { alert, annotations } of rules)
      expect([alert, Object.keys(annotations)]).toEqual([alert, ['summary', 'description']]);
  });

  it.skipIf(!hasPromtool)('passes promtool check rules (if promtool is installed)', () => {
    execFileSync('promtool', ['check', 'rules', `${folder}alerts.yml`], { stdio: 'pipe' });
  });
});
