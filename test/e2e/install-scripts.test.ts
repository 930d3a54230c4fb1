// What npm runs, and does not run, when somebody installs.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('an installation', () => {
  it('of this project runs no script of a package, with any version of npm', () => {
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  });

  it('of the packed package runs no script of ours', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const ofInstallation = ['preinstall', 'install', 'postinstall', 'prepublish', 'dependencies'];
    expect(ofInstallation.filter((name) => name in scripts)).toEqual([]);
  });

  it('of what the service needs to run has no package with a script', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<
        string,
        { dev?: boolean; devOptional?: boolean; hasInstallScript?: boolean }
      >;
    };
    const withScript = Object.entries(packages).filter(
      ([, { dev, devOptional, hasInstallScript }]) => hasInstallScript && !dev && !devOptional,
    );
    expect(withScript.map(([name]) => name)).toEqual([]);
  });
});
