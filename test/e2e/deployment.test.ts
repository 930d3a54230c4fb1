import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { unitOptions } from '../support/runtime/node-options.ts';

const run = promisify(execFile);
const above = (path: string) => new URL(`../../${path}`, import.meta.url);
const optionsIn = (line = '') => line.match(/--[a-z0-9-]+=\w+/g);

describe('docs/deployment', () => {
  it('starts Node with the same options in the unit, the image, docs/deploy.md and the benchmarks', async () => {
    const read = (name: string) => readFile(above(`docs/${name}`), 'utf8');
    const [unit, image, text] = [
      await read('deployment/signage@.service'),
      await read('deployment/Dockerfile'),
      await read('deploy.md'),
    ];
    const lines = [
      unit.match(/^ExecStart=.*/m),
      image.match(/^CMD .*/m),
      text.match(/^node --.* serve$/m),
    ];
    expect(lines.map((line) => optionsIn(line?.[0]))).toEqual([
      unitOptions,
      unitOptions,
      unitOptions,
    ]);
  });

  it('gives the service only the permissions that it needs in the unit', async () => {
    const unit = await readFile(above('docs/deployment/signage@.service'), 'utf8');
    const lines = [
      'UMask=0077',
      'LimitCORE=0',
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'ProtectSystem=strict',
      'ProtectProc=invisible',
      'ProtectClock=yes',
      'ProtectKernelLogs=yes',
      'ProtectHostname=yes',
    ];
    expect(lines.filter((line) => !unit.split('\n').includes(line))).toEqual([]);
  });

  it('uses options that this Node supports', async () => {
    const { stdout } = await run(process.execPath, [
      ...unitOptions,
      fileURLToPath(above('bin/signage.js')),
      '--version',
    ]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  });
});
