import { choice, text } from '../../input/option.ts';
import { connectionOptions } from '../../input/shared.ts';
import { members } from '../../output/view.ts';
import { defineCommand, one } from '../../program/spec.ts';

const { url, context, caFile, insecureHttp } = connectionOptions;

const panels = ['webos', 'brightsign'] as const;

const panel = { ...one(panels.join(' or ')), choices: panels };

const packageCommand = defineCommand({
  summary: "Write the package with which a panel opens this service's web player",
  description: `The package holds the address of the player, and no secret. webos writes
com.lg.app.signage.ipk for LG signage panels: copy it into the folder "application" of a USB stick,
or give its address as the SI server. brightsign writes autorun.brs: copy it to the SD card. Existing
files are never overwritten. Exit code: 3 the service serves no web player. docs/panels has a page
for each panel.`,
  arguments: { panel },
  options: {
    out: text('--out <file>', 'the new file (default: the name that the panel asks for)'),
    rotate: choice(
      ['90', '180', '270'],
      '--rotate <degrees>',
      'turn the player clockwise, for a panel that hangs upright',
    ),
    ...{ url, context, caFile, insecureHttp },
  },
  local: true,
  examples: [
    ['signage player package webos --url https://signage.example.com', 'com.lg.app.signage.ipk'],
    [
      'signage player package brightsign --url https://signage.example.com --rotate 90',
      'autorun.brs, for a panel that hangs upright',
    ],
  ],
  async run(call) {
    const { writePackage } = await import('./write-package.ts');
    const written = await writePackage(call);
    await call.results.record(written, {
      columns: members('file', 'opens', 'bytes', 'isReached'),
      nameOf: ({ file }) => file,
    });
  },
});

export const player = { package: packageCommand };
